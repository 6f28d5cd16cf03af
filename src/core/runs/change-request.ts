import { titleFrom } from "../basics/clean-text.ts";
import { AppError } from "../basics/errors.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { Run } from "../model/runs/run.ts";
import type { ApprovalTools } from "./approval.ts";
import { requireApprovalAgain } from "./decide-approval.ts";
import { decideCancel } from "./decide-cancel.ts";
import type { RunEdit } from "./run-edit.ts";

/**
 * Gives a run that nothing works on another request. An approval is for the text that it names: another text needs one
 * again. A title that was made of the request changes with it.
 */
export function decideRequestRewrite(edit: RunEdit, prompt: string, tools: ApprovalTools): void {
  requireHeld(edit.run);
  const { prompt: before, title } = edit.run;
  edit.rewriteRequest({ prompt, title: title === titleFrom(before) ? titleFrom(prompt) : title });
  if (edit.run.approval?.approved === true) {
    requireApprovalAgain(edit, tools);
  }
}

/** Cancels a run that nothing works on. */
export function decideRequestWithdrawal(edit: RunEdit, by: Viewer): void {
  requireHeld(edit.run);
  decideCancel(edit, by, `${by.displayName ?? "The author"} withdrew the request before the work began.`);
}

/** Throws `not_authorized` unless the viewer wrote the request or is an administrator. */
export function requireAuthor({ creatorId, requesterId }: Run, viewer: Viewer): void {
  if (viewer.id !== (requesterId ?? creatorId) && !viewer.administrator) {
    throw new AppError("not_authorized", "Only its author and administrators may change a request.");
  }
}

function requireHeld({ lease, state, turn }: Run): void {
  const isHeld = turn === 0 && lease === undefined && (state === "QUEUED" || state === "BLOCKED");
  if (!isHeld) {
    throw new AppError("conflict", "The request is no longer held.", { retryable: false });
  }
}
