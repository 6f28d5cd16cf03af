import type { WebClient } from "@slack/web-api";
import type { Clock } from "../../core/basics/clock.ts";
import { AppError, Misconfigured } from "../../core/basics/errors.ts";
import type { RunState } from "../../core/model/runs/states.ts";
import type { RunCard } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { parseThreadKey } from "./addresses.ts";
import { callSlack } from "./client.ts";
import { defuseLine } from "./defuse.ts";
import { slackCodeOf } from "./errors.ts";

const MAX_TITLE = 200;
/** How long a workspace is not asked again after it said that it has no sessions. */
const PAUSE_MS = 24 * 60 * 60_000;
/** Slack's codes for a workspace or an app without sessions. */
const WITHOUT_SESSIONS = new Set([
  "feature_disabled",
  "unknown_method",
  "not_agent_app",
  "missing_scope",
  "not_allowed_token_type",
]);

/** The status of a session does not change by itself. After `active`, a follow-up continues the run. */
const STATUSES: Partial<Record<RunState, string>> = {
  BLOCKED: "suspended",
  SUCCEEDED: "active",
  FAILED: "closed",
  ERROR: "closed",
  CANCELLED: "closed",
};

/**
 * Slack's own sign of what an agent does in a thread, with a button that stops it: https://docs.slack.dev/ai/agent-sessions.
 * A direct conversation as a whole is no thread, so it has none.
 */
export class Sessions {
  readonly #clock: Pick<Clock, "elapsedMs">;
  readonly #withSessions = new Set<string>();
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(clock: Pick<Clock, "elapsedMs">) {
    this.#clock = clock;
  }

  /** Whether the workspace is known to show the status of the thread. The first card of a process finds it out. */
  isShown({ thread: { installation, key } }: Pick<Delivery, "thread">): boolean {
    return this.#withSessions.has(installation) && parseThreadKey(key).threadTs !== undefined;
  }

  /** Shows the state of the run. Returns the status that the session has, if there is one. */
  async show(
    { thread: { installation, key } }: Pick<Delivery, "thread">,
    { state, title }: Pick<RunCard, "state" | "title">,
    { before, client }: { readonly before: string | undefined; readonly client: WebClient },
  ): Promise<string | undefined> {
    const { channel, threadTs } = parseThreadKey(key);
    const status = STATUSES[state] ?? "processing";
    const isPaused = this.#clock.elapsedMs() < (this.#pausedUntilMs.get(installation) ?? 0);
    if (status === before || threadTs === undefined || isPaused) {
      return before;
    }
    const session = { channel_id: channel, thread_ts: threadTs, status, title: defuseLine(title, MAX_TITLE) };
    try {
      await callSlack("agents.sessions.setStatus", client.agents.sessions.setStatus(session));
      this.#withSessions.add(installation);
      return status;
    } catch (error) {
      if (WITHOUT_SESSIONS.has(slackCodeOf(error) ?? "")) {
        this.#withSessions.delete(installation);
        this.#pausedUntilMs.set(installation, this.#clock.elapsedMs() + PAUSE_MS);
      } else if (!(error instanceof AppError) || error instanceof Misconfigured || error.retryable) {
        throw error;
      }
      return undefined;
    }
  }
}
