import { AppError } from "../errors.ts";
import type { RunEdit } from "./run-edit.ts";
import { isEnded, STATE_PHRASES } from "./states.ts";

/**
 * Cancels the run at once. A live attempt keeps its lease until its processes are gone: its `RunWatch` sees the new state
 * and stops the agent. Cancelling twice is not an error; cancelling a run that ended in another state is one. `why` is
 * shown with the state. Returns whether the state changed.
 */
export function decideCancel(edit: RunEdit, by: string | undefined, why = cancelledBy(by)): boolean {
  const { state } = edit.run;
  if (state === "CANCELLED") {
    return false;
  }
  if (isEnded(state)) {
    throw new AppError("invalid_request", `The run is over: it ${STATE_PHRASES[state]}.`, {
      remedy: "There is nothing to cancel. Send a follow-up to continue the run.",
    });
  }
  edit.set({ turnOpen: false, answer: undefined });
  edit.moveTo("CANCELLED", { status: { message: why } });
  return true;
}

function cancelledBy(name: string | undefined): string {
  return name === undefined ? "Cancelled." : `Cancelled by ${name}.`;
}
