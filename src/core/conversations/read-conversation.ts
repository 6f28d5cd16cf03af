import { lengthOf } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import type { Viewer } from "../people/principal.ts";
import { eventPages } from "../runs/event-pages.ts";
import type { RunEvent } from "../runs/events.ts";
import type { Run } from "../runs/run.ts";
import type { RunQuery } from "../runs/run-query.ts";
import type { RunService } from "../runs/run-service.ts";
import type { RunStore } from "../runs/run-store.ts";
import type { Conversation, Step } from "./conversation.ts";
import { RunSteps } from "./run-steps.ts";

const PAGE = 100;
/** A conversation is one response, and a log may be larger than a response can be. */
export const CONVERSATION_LENGTH_MAX = 32 * 2 ** 20;

type Runs = Pick<RunService, "list">;

export interface ConversationDeps {
  readonly runs: Runs;
  /** The logs of the runs, as this reader may see them. */
  readonly log: Pick<RunStore, "readEvents">;
}

/** The visible part of a conversation. If none of its runs is visible, the conversation is not found. */
export async function readConversation(
  { log, runs }: ConversationDeps,
  id: string,
  viewer: Viewer,
): Promise<Conversation> {
  const visible: Run[] = [];
  for await (const run of runsOf(runs, id, viewer)) {
    visible.push(run);
  }
  if (visible.length === 0) {
    throw unknownConversation();
  }
  const steps: Step[] = [];
  const talk = new Talk();
  for (const run of visible) {
    steps.push(...(await stepsOf(log, run, talk)));
  }
  return { id, steps };
}

/** The newest visible run of a conversation, with which the conversation can be continued. */
export async function newestRunOf(runs: Runs, id: string, viewer: Viewer): Promise<Run> {
  const page = await runs.list({ ...queryOf(id, viewer), order: "desc", limit: 1 });
  const [newest] = page.runs;
  if (newest === undefined) {
    throw unknownConversation();
  }
  return newest;
}

async function stepsOf(log: ConversationDeps["log"], run: Run, talk: Talk): Promise<readonly Step[]> {
  const steps = new RunSteps(run);
  for await (const page of eventPages(log, run)) {
    for (const event of page) {
      if (talk.hasRoomFor(event)) {
        steps.onEvent(event);
      } else {
        steps.leaveOut(event);
      }
    }
  }
  return steps.list();
}

/** Limits what agents and commands say. The beginning is always shown, and so is the outcome. */
class Talk {
  #remaining = CONVERSATION_LENGTH_MAX;

  hasRoomFor({ body }: RunEvent): boolean {
    if (!body.kind.startsWith("agent.") && body.kind !== "workspace.step") {
      return true;
    }
    this.#remaining -= lengthOf(body);
    return this.#remaining >= 0;
  }
}

async function* runsOf(runs: Runs, id: string, viewer: Viewer): AsyncGenerator<Run> {
  let query: RunQuery | undefined = queryOf(id, viewer);
  while (query !== undefined) {
    const page = await runs.list(query);
    yield* page.runs;
    query = page.next === undefined ? undefined : { ...query, after: page.next };
  }
}

function queryOf(conversationId: string, viewer: Viewer): RunQuery {
  return { viewer, filters: { conversationId }, sort: "created_at", order: "asc", limit: PAGE };
}

function unknownConversation(): AppError {
  return new AppError("resource_not_found", "There is no such conversation.");
}
