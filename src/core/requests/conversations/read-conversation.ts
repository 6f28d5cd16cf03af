import { lengthOf } from "../../basics/clean-text.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import type { RunId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { RunEvent, RunEventKind } from "../../model/runs/events.ts";
import type { ListedRun, Run } from "../../model/runs/run.ts";
import type { FollowUpStore } from "../../ports/stores/follow-up-store.ts";
import type { RunQuery } from "../../ports/stores/run-query.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import { eventPages } from "../../runs/event-pages.ts";
import type { RunService } from "../run-service.ts";
import type { Conversation, Step } from "./conversation.ts";
import { type RunPart, RunSteps } from "./run-steps.ts";

const PAGE = 100;
/** A conversation is one response, and a log may be larger than a response can be. */
export const CONVERSATION_LENGTH_MAX = 32 * 2 ** 20;

/** The kinds of events with messages of users and output of commands. */
const FOLLOW_UPS_AND_COMMANDS: ReadonlySet<RunEventKind> = new Set([
  "followup.received",
  "followup.edited",
  "workspace.step",
]);

type Runs = Pick<RunService, "list">;

export interface ConversationDeps {
  readonly runs: Runs;
  /** The logs of the runs, as this reader may see them. */
  readonly log: Pick<RunStore, "readEvents">;
  readonly positions: Pick<RunStore, "lastSeqBeforeTurn">;
  readonly followUps: Pick<FollowUpStore, "listFromTurn">;
}

/** The part of a conversation to read. Default: all of it. */
export interface ConversationQuery {
  /** The maximum number of steps: the last ones. */
  readonly limit?: number;
  /** Only the steps before this one. */
  readonly before?: { readonly runId: RunId; readonly turn: number };
}

/**
 * The visible part of a conversation. If none of its runs is visible, the conversation is not found. With a limit, only
 * the events of the steps that are returned are read.
 */
export async function readConversation(
  deps: ConversationDeps,
  id: string,
  viewer: Viewer,
  { before, limit = Infinity }: ConversationQuery = {},
): Promise<Conversation> {
  const parts: StepsOfRun[] = [];
  let [hasRuns, isBehind, missing, hasMoreBefore] = [false, before !== undefined, limit, false];
  for await (const run of newestFirst(deps.runs, id, viewer)) {
    hasRuns = true;
    if (isBehind && run.id !== before?.runId) {
      continue;
    }
    if (missing === 0) {
      hasMoreBefore = true;
      break;
    }
    const part = await partOf(deps, run, missing, isBehind ? before?.turn : undefined);
    isBehind = false;
    parts.unshift(part);
    missing -= part.end - part.first;
    if (part.first > 1) {
      hasMoreBefore = true;
      break;
    }
  }
  if (!hasRuns) {
    throw unknownConversation();
  }
  if (isBehind) {
    throw unknownStep();
  }
  const steps: Step[] = [];
  const textLimit = new TextLimit();
  for (const part of parts) {
    steps.push(...(await stepsOf(deps, part, textLimit)));
  }
  return { id, steps, hasMoreBefore };
}

interface StepsOfRun extends RunPart {
  readonly run: ListedRun;
}

/** At most `limit` steps of a run: the last ones, or those before the step `before`. */
async function partOf(
  { followUps }: ConversationDeps,
  run: ListedRun,
  limit: number,
  before: number | undefined,
): Promise<StepsOfRun> {
  const turns = Math.max(1, run.turn);
  if (before !== undefined && before > turns + 1) {
    throw unknownStep();
  }
  const listed = await followUps.listFromTurn(run.id, Math.max(1, (before ?? turns + 1) - limit), before);
  const isWaiting = listed.some(({ turn }) => turn === undefined || turn > run.turn);
  const end = before ?? turns + (isWaiting ? 2 : 1);
  const first = Math.max(1, end - limit);
  // From the first step on, the log has all follow-ups.
  return { run, first, end, followUps: first === 1 ? [] : listed };
}

/** The newest visible run of a conversation, with which the conversation can be continued. */
export async function newestRunOf(
  runs: Pick<RunService, "get" | "list">,
  id: string,
  viewer: Viewer,
): Promise<Run> {
  const page = await runs.list({ ...queryOf(id, viewer), order: "desc", limit: 1 });
  const [newest] = page.runs;
  if (newest === undefined) {
    throw unknownConversation();
  }
  return runs.get({ id: newest.id }, viewer);
}

async function stepsOf(
  { log, positions }: ConversationDeps,
  { run, ...part }: StepsOfRun,
  textLimit: TextLimit,
): Promise<readonly Step[]> {
  const { end, first } = part;
  const steps = new RunSteps(run, part);
  const lastSeq = end > run.turn ? run.lastSeq : await positions.lastSeqBeforeTurn(run.id, end);
  const after = first === 1 ? 0 : await positions.lastSeqBeforeTurn(run.id, first);
  for await (const page of eventPages(log, { id: run.id, lastSeq, after })) {
    for (const event of page) {
      if (textLimit.hasRoomFor(event)) {
        steps.onEvent(event);
      } else {
        steps.leaveOut(event);
      }
    }
  }
  return steps.list().slice(0, end - first);
}

/** Limits follow-ups and the output of agents and commands. Their beginning is always shown, and so is the outcome. */
class TextLimit {
  #remaining = CONVERSATION_LENGTH_MAX;

  hasRoomFor({ body }: RunEvent): boolean {
    if (!body.kind.startsWith("agent.") && !FOLLOW_UPS_AND_COMMANDS.has(body.kind)) {
      return true;
    }
    this.#remaining -= lengthOf(body);
    return this.#remaining >= 0;
  }
}

async function* newestFirst(runs: Runs, id: string, viewer: Viewer): AsyncGenerator<ListedRun> {
  let query: RunQuery | undefined = { ...queryOf(id, viewer), order: "desc" };
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

function unknownStep(): AppError {
  return invalidMember("before", "must be the id of a step of this conversation");
}
