import { questionLine } from "../model/runs/question-text.ts";
import type { ListedRun } from "../model/runs/run.ts";
import { isEnded, isPaused } from "../model/runs/states.ts";
import type { Availability } from "./capacity.ts";

export const WAIT_REASONS = [
  "approval",
  "question",
  "instructions",
  "worker_host",
  "capacity",
  "quota",
  "disk",
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** What a run waits for before it can start or continue. */
export interface WaitingFor {
  readonly reason: WaitReason;
  readonly message: string;
  readonly since: Date;
  /** The place among the waiting runs of its creator, counted from 1. */
  readonly position?: number;
}

/** A run that was queued just now is taken at once, although the availability that is known may be a second old. */
const MOMENT_MS = 2_000;

/** `availability` is that of the workers that may take the run. Undefined: it is unknown. */
export function waitingFor(
  run: ListedRun,
  availability: Availability | undefined,
  now: Date,
): WaitingFor | undefined {
  const followUp = run.waitingFollowUp;
  if (followUp !== undefined && (isEnded(run.state) || isPaused(run))) {
    const { reason, since } = followUp;
    return { reason: "approval", message: `A follow-up must be approved. ${reason}`, since };
  }
  const since = run.stateSince;
  const isRecent = now.getTime() - since.getTime() < MOMENT_MS;
  const reason = run.state === "BLOCKED" ? decisionOf(run) : workerFor(run, availability, isRecent);
  return reason && { ...reason, since };
}

/** `position`: the place of the run among the waiting runs of its creator, counted from 1. */
export function withPlace(waiting: WaitingFor, position: number): WaitingFor {
  const before = position - 1;
  const others =
    before === 1
      ? "Another queued run of the same creator comes first."
      : `${before} other queued runs of the same creator come first.`;
  return { ...waiting, message: before === 0 ? waiting.message : `${waiting.message} ${others}`, position };
}

/** The same for a run that was created just now. */
export function newRunWaitsFor(
  run: ListedRun,
  availability: Availability | undefined,
): WaitingFor | undefined {
  return waitingFor(run, availability, new Date(run.stateSince.getTime() + MOMENT_MS));
}

type Reason = Pick<WaitingFor, "message" | "reason">;

function decisionOf({ approval, pause, permission, statusMessage }: ListedRun): Reason | undefined {
  if (pause !== undefined) {
    return { reason: "instructions", message: statusMessage?.message ?? "The run is paused." };
  }
  if (permission !== undefined) {
    return { reason: "question", message: questionLine(permission) };
  }
  return approval && { reason: "approval", message: `The run must be approved. ${approval.reason}` };
}

const AT_QUOTA = "The team has as many runs at work as its quota running_runs allows.";
const FOLLOWED_UP = "A follow-up came. The run continues with the next free slot of its worker.";
const ANSWERED = "The question is answered. The agent continues with the next free slot of its worker.";

/**
 * An attempt that has not given up the run yet is no wait for a worker, unless its agent needs a slot to continue with an
 * answer or a follow-up.
 */
function workerFor(
  { config: { worker_host: host }, debugUntil, lease, permission, state }: ListedRun,
  availability: Availability | undefined,
  isRecent: boolean,
): Reason | undefined {
  if (state === "INPROGRESS" && permission?.answer !== undefined && !isRecent) {
    return { reason: "capacity", message: ANSWERED };
  }
  if (state === "QUEUED" && debugUntil !== undefined && !isRecent) {
    return { reason: "capacity", message: FOLLOWED_UP };
  }
  if (state !== "QUEUED" || lease !== undefined) {
    return undefined;
  }
  if (availability === "absent" && host !== undefined) {
    return { reason: "worker_host", message: `No worker with the name ${host} is connected.` };
  }
  if (availability === "limited") {
    return { reason: "quota", message: AT_QUOTA };
  }
  if (isRecent || availability === undefined || availability === "free") {
    return undefined;
  }
  if (availability === "crowded") {
    return { reason: "disk", message: "The disks of the workers that are free are nearly full." };
  }
  const message = availability === "absent" ? "No worker is connected." : "All workers are busy.";
  return { reason: "capacity", message };
}
