import type { AttemptDeps } from "../attempts/attempt-deps.ts";
import { readLog } from "../attempts/read-log.ts";
import { untilAvailable } from "../attempts/until-available.ts";
import type { Run } from "../runs/run.ts";
import { digestLine } from "./turn-input.ts";

type AppDeps = Pick<AttemptDeps, "clock" | "storage">;

/** Of a long log the end is read. */
const EVENTS_MAX = 5_000;
const KINDS = ["followup.received", "turn.ended"] as const;
const DIGEST_LENGTH = 16_000;
const NONE: ReadonlySet<string> = new Set();

/**
 * What was said in the conversation before this turn, for an agent that knows nothing of it: in this run's earlier
 * turns and in the runs that it goes on with, the end of it where it is long. Follow-ups in `now` are left out.
 */
export async function earlierTurns(
  deps: AppDeps,
  run: Run,
  now: ReadonlySet<string>,
): Promise<string | undefined> {
  let told = run.turn > 1 ? await digestOf(deps, run, run.turn, now) : undefined;
  for (let id = run.continuesId; id !== undefined && (told?.length ?? 0) < DIGEST_LENGTH; ) {
    const key = { id };
    const before = await untilAvailable(deps.clock, () => deps.storage.runs.find(key));
    if (before === undefined) break;
    const earlier = await digestOf(deps, before, Infinity, NONE);
    told = told === undefined ? earlier : `${earlier}\n${told}`;
    id = before.continuesId;
  }
  return told?.slice(-DIGEST_LENGTH).toWellFormed();
}

/** The end of what the run's log tells of the turns before `before`, line by line. */
async function digestOf(
  deps: AppDeps,
  { id, lastSeq, prompt }: Run,
  before: number,
  now: ReadonlySet<string>,
): Promise<string> {
  let told = `Request: ${prompt}`;
  const after = Math.max(0, lastSeq - EVENTS_MAX);
  for await (const event of readLog(deps, { id, lastSeq, after, kinds: KINDS })) {
    const line = digestLine(event, before, now);
    if (line !== undefined) told = `${told}\n${line}`.slice(-DIGEST_LENGTH);
  }
  return told;
}
