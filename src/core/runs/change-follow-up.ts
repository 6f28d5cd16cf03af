import { AppError } from "../errors.ts";
import type { PrincipalId } from "../ids.ts";
import type { FollowUp } from "./run.ts";
import type { RunEdit } from "./run-edit.ts";
import { isEnded, isWorkedOn } from "./states.ts";

/** Gives a follow-up that is held another text. */
export function decideRewrite(edit: RunEdit, id: string, message: string, editedBy: PrincipalId): FollowUp {
  const followUp = requireHeld(edit, id);
  return edit.rewriteFollowUp(followUp, message, editedBy);
}

/** Withdraws a follow-up that is held. A run that has nothing else to do is cancelled. */
export function decideWithdrawal(edit: RunEdit, id: string, withdrawnBy: PrincipalId): FollowUp {
  const followUp = requireHeld(edit, id);
  if (isNeededByAttempt(edit, followUp)) {
    throw notHeld("The running attempt already acts on the follow-up.");
  }
  edit.withdrawFollowUp(followUp, withdrawnBy);
  const next = edit.subject.waiting.find((other) => other.id !== id);
  if (next !== undefined) {
    if (followUp.resumes === true) {
      edit.markResuming(next);
    }
  } else if (hasNothingToDo(edit, followUp)) {
    edit.set({ turnOpen: false });
    edit.moveTo("CANCELLED", { status: { message: "The follow-up was withdrawn." } });
  }
  return followUp;
}

/**
 * A follow-up for the open turn is offered to the agent before the turn takes it, so its text may already be on its
 * way.
 */
function requireHeld({ run, subject }: RunEdit, id: string): FollowUp {
  const followUp = subject.waiting.find((waiting) => waiting.id === id);
  const isOffered = followUp?.delivery === "steer" && run.turnOpen && isWorkedOn(run.state);
  if (followUp === undefined || isOffered) {
    throw notHeld("The follow-up is no longer held.");
  }
  return followUp;
}

/** The attempt stops its turn for an interrupting follow-up. Between two turns, it starts the next one for what waits. */
function isNeededByAttempt({ run }: RunEdit, { delivery }: FollowUp): boolean {
  return (
    isWorkedOn(run.state) &&
    run.turn > 0 &&
    (run.turnOpen ? delivery === "interrupt" : run.state === "INPROGRESS")
  );
}

function hasNothingToDo({ run }: RunEdit, { resumes }: FollowUp): boolean {
  if (isEnded(run.state) || run.state === "INPROGRESS") {
    return false;
  }
  return resumes === true || (run.turn > 0 && !run.turnOpen);
}

function notHeld(message: string): AppError {
  return new AppError("conflict", message, { retryable: false });
}
