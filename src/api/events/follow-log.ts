import type { RunId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { RunEvent } from "../../core/runs/events.ts";
import { isEnded } from "../../core/runs/states.ts";
import type { ApiParts } from "../api-parts.ts";
import { Doorbell } from "./doorbell.ts";

const PAGE = 200;

export interface Following {
  readonly runId: RunId;
  readonly viewer: Viewer;
  readonly after: number;
  /** Goes on when the run has ended: a follow-up takes it up again. */
  readonly follow: boolean;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/**
 * A run's events from `after` on, each once and in order, until the run has ended and all was told. News is only
 * a hint to look at once: what is told comes from the log, by sequence number.
 */
export async function* followLog(
  parts: Pick<ApiParts, "runs" | "news">,
  { signal, ...following }: Following,
): AsyncGenerator<RunEvent> {
  const bell = new Doorbell();
  const ring = (): void => bell.ring();
  const silence = parts.news.on(`run:${following.runId}`, ring);
  signal.addEventListener("abort", ring);
  try {
    for await (const event of readOn(parts, following, bell)) {
      if (signal.aborted) return;
      if (event !== undefined) yield event;
    }
  } finally {
    signal.removeEventListener("abort", ring);
    silence();
  }
}

/** Yields undefined after each wait, so that the caller can look whether anybody still listens. */
async function* readOn(
  { runs }: Pick<ApiParts, "runs">,
  { runId, viewer, after, follow, pollMs }: Omit<Following, "signal">,
  bell: Doorbell,
): AsyncGenerator<RunEvent | undefined> {
  let seen = after;
  while (true) {
    const { state, lastSeq } = await runs.get({ id: runId }, viewer);
    if (lastSeq > seen) {
      const events = await runs.readEvents(runId, seen, PAGE);
      yield* events;
      seen = events.at(-1)?.seq ?? seen;
      continue;
    }
    if (isEnded(state) && !follow) return;
    await bell.wait(pollMs);
    yield undefined;
  }
}
