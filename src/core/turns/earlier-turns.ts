import type { AttemptDeps } from "../attempts/attempt-deps.ts";
import { readLog } from "../attempts/read-log.ts";
import { retry, WHILE_UNAVAILABLE } from "../retry.ts";
import { needsApproval } from "../runs/approval.ts";
import type { Run } from "../runs/run.ts";
import { Digest } from "./digest.ts";

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
const DIGEST_LENGTH = 16_000;
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
  let digest = run.turn > 1 ? await digestOf(deps, run, run.turn, now) : undefined;
  for (let id = run.continuesId; id !== undefined && (digest?.length ?? 0) < DIGEST_LENGTH; ) {
    const key = { id };
    const before = await retry(deps.clock, WHILE_UNAVAILABLE, () => deps.storage.runs.find(key));
    if (before === undefined) {
      break;
    }
    // Nobody has approved the request of such a run.
    if (!needsApproval(before)) {
      const earlier = await digestOf(deps, before, Infinity, NONE);
      digest = digest === undefined ? earlier : `${earlier}\n${digest}`;
    }
    id = before.continuesId;
  }
  return digest?.slice(-DIGEST_LENGTH).toWellFormed();
}

/** The end of what the log tells about the turns before `before`, line by line. */
async function digestOf(
  deps: EventLogDeps,
  { id, lastSeq, prompt }: Run,
  before: number,
  now: ReadonlySet<string>,
): Promise<string> {
  const digest = new Digest(before, now);
  const after = Math.max(0, lastSeq - EVENTS_MAX);
  for await (const event of readLog(deps, { id, lastSeq, after, kinds: KINDS })) {
    digest.onEvent(event);
    digest.shorten(DIGEST_LENGTH);
  }
  return [`Request: ${prompt}`, ...digest.lines].join("\n").slice(-DIGEST_LENGTH);
}
