import { AppError } from "../errors.ts";
import type { PrincipalId } from "../ids.ts";
import type { Approval, Run, StatusMessage } from "./run.ts";
import type { RunEdit } from "./run-edit.ts";
import { STATE_PHRASES } from "./states.ts";

export interface ApprovalDecision {
  readonly approve: boolean;
  readonly comment?: string;
  readonly decidedBy: PrincipalId;
  /** The name of the person who decided. */
  readonly name: string | undefined;
}

/** The status message of a run that waits for approval. */
export function approvalMessage({ reason }: Approval): StatusMessage {
  return { message: `Waits for approval. ${reason}` };
}

/** Whether the run may not start or restart before it is approved. */
export function needsApproval({ approval }: Pick<Run, "approval">): boolean {
  return approval !== undefined && approval.approved !== true;
}

/** A run that was never approved and restarts needs approval again, so that a follow-up cannot bypass it. */
export function requireApprovalAgain(edit: RunEdit): void {
  const { approval } = edit.run;
  if (approval === undefined) {
    return;
  }
  const { policyId, reason } = approval;
  edit.set({ approval: { policyId, reason } });
  edit.moveTo("BLOCKED", { status: approvalMessage(approval) });
  edit.record({ kind: "approval.requested", policyId, reason });
}

/** An approved run is queued, a refused one is cancelled. The same decision again changes nothing. */
export function decideApproval(edit: RunEdit, decision: ApprovalDecision): void {
  const { approve, comment, decidedBy } = decision;
  const { approval, state } = edit.run;
  if (approval === undefined) {
    throw conflict("The run does not wait for approval.");
  }
  if (approval.approved === approve) {
    return;
  }
  if (approval.approved !== undefined) {
    throw conflict("It was decided otherwise already.");
  }
  if (state !== "BLOCKED") {
    throw conflict(`The run no longer waits for approval: it ${STATE_PHRASES[state]}.`);
  }
  edit.set({ approval: { ...approval, approved: approve, decidedBy } });
  const said = comment === undefined ? {} : { comment };
  edit.record({ kind: "approval.decided", approved: approve, decidedBy, ...said });
  const message = told(decision);
  if (approve) {
    edit.moveTo("QUEUED", { reason: message });
  } else {
    edit.moveTo("CANCELLED", { status: { message } });
  }
}

function told({ approve, comment, name }: ApprovalDecision): string {
  const by = name === undefined ? "" : ` by ${name}`;
  const words = comment === undefined ? "." : `: ${comment}`;
  return `${approve ? "Approved" : "Refused"}${by}${words}`;
}

function conflict(message: string): AppError {
  const remedy = "Look at the run: there is nothing to decide any more.";
  return new AppError("conflict", message, { retryable: false, remedy });
}
