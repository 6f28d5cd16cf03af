import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import { needsApproval } from "../../runs/approval.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { readLog } from "../lease/read-log.ts";
import { TurnSummary } from "./turn-summary.ts";

type EventLogDeps = Pick<AttemptDeps, "clock" | "storage">;

/** Only the end of a long log is read. */
const EVENTS_MAX = 5_000;
const KINDS = [
  "followup.received",
  "followup.edited",
  "followup.steered",
  "turn.started",
  "turn.ended",
] as const;
const SUMMARY_LENGTH = 16_000;
const NONE: ReadonlySet<string> = new Set();

/**
 * The earlier conversation as text, for an agent that does not know it: the earlier turns of this run and the runs
 * that it continues. A long text is cut at its beginning. Follow-ups in `now` are left out.
 */
export async function earlierTurns(
  deps: EventLogDeps,
  run: Run,
  now: ReadonlySet<string>,
): Promise<string | undefined> {
  let summary = run.turn > 1 ? await summaryOf(deps, run, run.turn, now) : undefined;
  for (let id = run.continuesId; id !== undefined && (summary?.length ?? 0) < SUMMARY_LENGTH; ) {
    const key = { id };
    const before = await retry(deps.clock, WHILE_UNAVAILABLE, () => deps.storage.runs.find(key));
    if (before === undefined) {
      break;
    }
    // Nobody has approved the request of such a run.
    if (!needsApproval(before)) {
      const earlier = await summaryOf(deps, before, Infinity, NONE);
      summary = summary === undefined ? earlier : `${earlier}\n${summary}`;
    }
    id = before.continuesId;
  }
  return summary?.slice(-SUMMARY_LENGTH).toWellFormed();
}

/** The end of what the log tells about the turns before `before`, line by line. */
async function summaryOf(
  deps: EventLogDeps,
  { id, lastSeq, prompt }: Run,
  before: number,
  now: ReadonlySet<string>,
): Promise<string> {
  const summary = new TurnSummary(before, now);
  const after = Math.max(0, lastSeq - EVENTS_MAX);
  for await (const event of readLog(deps, { id, lastSeq, after, kinds: KINDS })) {
    summary.onEvent(event);
    summary.shorten(SUMMARY_LENGTH);
  }
  return [`Request: ${prompt}`, ...summary.lines].join("\n").slice(-SUMMARY_LENGTH);
}
