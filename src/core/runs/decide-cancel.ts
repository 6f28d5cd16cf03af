import { AppError } from "../basics/errors.ts";
import type { PrincipalId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import { isInDebugWindow } from "../model/runs/debug-window.ts";
import { isEnded, STATE_PHRASES } from "../model/runs/states.ts";
import type { RunEdit } from "./run-edit.ts";

/**
 * Cancels the run at once. A live attempt keeps its lease until its processes are gone: its `RunWatch` sees the new state
 * and stops the agent. Cancelling twice is not an error; cancelling a run that ended in another state is one, except that a
 * failed run gives up what it keeps for a follow-up. `why` is shown with the state. Returns whether something changed.
 */
export function decideCancel(edit: RunEdit, by: Canceller, why = cancelledBy(by)): boolean {
  const { state } = edit.run;
  if (state === "CANCELLED") {
    return false;
  }
  if (isInDebugWindow(edit.run) && state === "FAILED") {
    edit.set({ debugUntil: undefined });
    return true;
  }
  if (isEnded(state)) {
    throw new AppError("invalid_request", `The run is over: it ${STATE_PHRASES[state]}.`, {
      remedy: "There is nothing to cancel. Send a follow-up to continue the run.",
    });
  }
  endAsCancelled(edit, by.id, why);
  return true;
}

/** Withdraws what was held for the run and says so, because the next follow-up would release all of that. */
export function endAsCancelled(edit: RunEdit, by: PrincipalId, why: string): void {
  edit.set({ turnOpen: false, answer: undefined });
  const held = edit.waiting;
  for (const followUp of held) {
    edit.withdrawFollowUp(followUp, by);
  }
  const message = held.length === 0 ? why : `${why} ${withdrawn(held.length)}`;
  edit.moveTo("CANCELLED", { status: { message } });
}

type Canceller = Pick<Viewer, "displayName" | "id">;

function cancelledBy({ displayName }: Canceller): string {
  return displayName === undefined ? "Cancelled." : `Cancelled by ${displayName}.`;
}

function withdrawn(count: number): string {
  return count === 1 ? "One held follow-up was withdrawn." : `${count} held follow-ups were withdrawn.`;
}
