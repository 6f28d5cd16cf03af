import { AppError } from "../../basics/errors.ts";

/** The states of a run. A worker has the run while it is PENDING, CLAIMED or INPROGRESS, and then needs a live lease. */
export const RUN_STATES = [
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "BLOCKED",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "CANCELLED",
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** What a sentence for people says of a run in this state. */
export const STATE_PHRASES: Readonly<Record<RunState, string>> = {
  QUEUED: "is queued",
  PENDING: "is being prepared",
  CLAIMED: "is starting",
  INPROGRESS: "is in progress",
  BLOCKED: "waits for a person",
  SUCCEEDED: "has succeeded",
  FAILED: "has failed",
  ERROR: "ended with an error",
  CANCELLED: "was cancelled",
};

/**
 * The transition table:
 *
 * - A new run is QUEUED, or BLOCKED if it needs approval first: then BLOCKED → QUEUED or CANCELLED.
 * - QUEUED → PENDING: a worker claims it. → CLAIMED: the workspace is ready. → INPROGRESS: the agent took the prompt.
 * - INPROGRESS ↔ BLOCKED while a person is asked, or is to write what to do next. BLOCKED → QUEUED when the answer or the
 *   follow-up comes after the agent was stopped.
 * - PENDING, CLAIMED, INPROGRESS → QUEUED when the worker is lost or stops; → SUCCEEDED, FAILED or ERROR at the end.
 * - Every state that is not final → CANCELLED. Every final state → QUEUED by a follow-up, and then → BLOCKED if the run
 *   was never approved.
 */
const TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  QUEUED: ["PENDING", "BLOCKED", "CANCELLED"],
  PENDING: ["CLAIMED", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  CLAIMED: ["INPROGRESS", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  INPROGRESS: ["BLOCKED", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  BLOCKED: ["INPROGRESS", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  SUCCEEDED: ["QUEUED"],
  FAILED: ["QUEUED"],
  ERROR: ["QUEUED"],
  CANCELLED: ["QUEUED"],
};

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);
const LEASED_STATES: ReadonlySet<RunState> = new Set(["PENDING", "CLAIMED", "INPROGRESS"]);

export function isEnded(state: RunState): boolean {
  return ENDED.has(state);
}

/** Whether a worker must have a live lease for a run in this state. */
export function needsLease(state: RunState): boolean {
  return LEASED_STATES.has(state);
}

/** Whether the attempt that owns the run may continue in this state. */
export function isWorkedOn(state: RunState): boolean {
  return LEASED_STATES.has(state) || state === "BLOCKED";
}

/** Whether a run waits for a person to write what to do next, because its turn was interrupted. */
export function isPaused({
  pause,
  state,
}: {
  readonly pause?: object | undefined;
  readonly state: RunState;
}): boolean {
  return state === "BLOCKED" && pause !== undefined;
}

export function mayMove(from: RunState, to: RunState): boolean {
  return TRANSITIONS[from].includes(to);
}

export function requireTransition(from: RunState, to: RunState): void {
  if (mayMove(from, to)) {
    return;
  }
  throw new AppError("invalid_request", `A run that is ${from} cannot become ${to}.`);
}
