import { AppError } from "../errors.ts";

/** The states of a run. A moving state needs a live lease. Only a follow-up takes a run out of an ended state. */
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

/**
 * The transition table, and the only one:
 *
 * - A new run is QUEUED, or BLOCKED when it needs approval first: then BLOCKED → QUEUED or CANCELLED.
 * - QUEUED → PENDING a worker claims it → CLAIMED workspace ready → INPROGRESS the agent took the prompt.
 * - INPROGRESS ↔ BLOCKED while a person is asked; BLOCKED → QUEUED when answered after its agent was given up.
 * - Moving states → QUEUED when their worker was lost or stops, → SUCCEEDED, FAILED or ERROR at the end.
 * - Everything that has not ended → CANCELLED. Everything that has ended → QUEUED by a follow-up, and at once → BLOCKED
 *   when it was never approved.
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
const MOVING: ReadonlySet<RunState> = new Set(["PENDING", "CLAIMED", "INPROGRESS"]);

export function isEnded(state: RunState): boolean {
  return ENDED.has(state);
}

/** Whether a worker must hold a live lease for a run in this state. */
export function isMoving(state: RunState): boolean {
  return MOVING.has(state);
}

/** Whether an attempt that has the run in this state may go on with it. */
export function isWorkedOn(state: RunState): boolean {
  return MOVING.has(state) || state === "BLOCKED";
}

export function mayMove(from: RunState, to: RunState): boolean {
  return TRANSITIONS[from].includes(to);
}

export function requireTransition(from: RunState, to: RunState): void {
  if (mayMove(from, to)) return;
  throw new AppError("invalid_request", `A run that is ${from} cannot become ${to}.`);
}
