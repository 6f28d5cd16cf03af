import type { RunEvent } from "../runs/events.ts";
import type { Run } from "../runs/run.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import { DIGEST_LENGTH, digestLines } from "./turn-input.ts";
import { untilAvailable } from "./until-available.ts";

/** Of a long log the end is read. */
const EVENTS_MAX = 5_000;
const KINDS = ["followup.received", "turn.ended"] as const;
const NONE: ReadonlySet<string> = new Set();

/**
 * What was said in the conversation before this turn, for an agent that knows nothing of it: in this run's earlier
 * turns and in the runs that it goes on with, the end of it where it is long. Follow-ups in `now` are left out.
 */
export async function earlierTurns(
  parts: Pick<AttemptParts, "clock" | "storage">,
  run: Run,
  now: ReadonlySet<string>,
): Promise<string | undefined> {
  const told = run.turn > 1 ? [linesOf(run, run.turn, await readEnd(parts, run), now)] : [];
  for (let id = run.continuesId; id !== undefined && lengthOf(told) < DIGEST_LENGTH; ) {
    const key = { id };
    const before = await untilAvailable(parts.clock, () => parts.storage.runs.find(key));
    if (before === undefined) break;
    told.unshift(linesOf(before, Infinity, await readEnd(parts, before), NONE));
    id = before.continuesId;
  }
  return told.length === 0 ? undefined : told.join("\n").slice(-DIGEST_LENGTH).toWellFormed();
}

function linesOf(run: Run, turn: number, events: readonly RunEvent[], now: ReadonlySet<string>): string {
  return digestLines(run, turn, events, now).join("\n");
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function readEnd(
  { clock, storage }: Pick<AttemptParts, "clock" | "storage">,
  { id, lastSeq }: Run,
): Promise<readonly RunEvent[]> {
  const after = Math.max(0, lastSeq - EVENTS_MAX);
  return untilAvailable(clock, () => storage.runs.readEvents(id, after, EVENTS_MAX, KINDS));
}
