import { AppError } from "../basics/errors.ts";
import type { PrincipalId, RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { RequiredApproval } from "../model/policies/evaluate-policies.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Approval, Run } from "../model/runs/run.ts";
import { isEnded, isWorkedOn } from "../model/runs/states.ts";
import type { Notice } from "../model/threads/notice.ts";
import {
  type ApprovalTools,
  deliverable,
  followUpInput,
  hashed,
  isWaitingForApproval,
  needsApproval,
  newApproval,
} from "./approval.ts";
import { releaseFollowUps } from "./decide-approval.ts";
import type { FollowUpInput } from "./decide-follow-up.ts";
import type { RunEdit } from "./run-edit.ts";
import type { TransactionExtras } from "./transaction-extras.ts";

export interface FollowUpTarget {
  readonly runId: RunId;
  readonly followUpId: string;
}

export interface Rewrite {
  readonly message: string;
  readonly editedBy: PrincipalId;
  /** What the policies require of this author. */
  readonly required: RequiredApproval | undefined;
}

/**
 * Gives a follow-up that is held another text. An approval is for the text that it names: another text needs one again,
 * no matter who writes them.
 */
export function decideRewrite(edit: RunEdit, id: string, rewrite: Rewrite, tools: ApprovalTools): FollowUp {
  const followUp = requireHeld(edit, id);
  const { message } = rewrite;
  const required = approvalBefore(edit.run, followUp) ?? rewrite.required;
  if (required === undefined || needsApproval(edit.run) || message === followUp.message) {
    return edit.rewriteFollowUp(followUp, rewrite);
  }
  if (isWaitingForApproval(followUp)) {
    return edit.rewriteFollowUp(followUp, {
      ...rewrite,
      approval: changedApproval(followUp, message, tools),
    });
  }
  requireFree(edit, followUp);
  const inputs = [followUpInput({ ...followUp, message })];
  const authorIds = [followUp.authorId, ...tools.authorIds];
  const approval = newApproval(edit.newId(), required, inputs, { ...tools, authorIds });
  const rewritten = edit.rewriteFollowUp(followUp, { ...rewrite, approval });
  stopIfIdle(edit, followUp, "The follow-up was changed and waits for approval.");
  return rewritten;
}

/** The approval that the follow-up has, alone or together with its run. */
function approvalBefore({ approval }: Run, followUp: FollowUp): RequiredApproval | undefined {
  const wasAmong = approval?.inputs.some(({ followUpId }) => followUpId === followUp.id);
  return followUp.approval ?? (wasAmong === true ? approval : undefined);
}

/** An open approval keeps its id and gets the new text. */
function changedApproval(
  followUp: FollowUp,
  message: string,
  { authorIds, digest }: ApprovalTools,
): Approval | undefined {
  const { approval } = followUp;
  const authors = new Set([...(approval?.authorIds ?? []), ...authorIds]);
  const inputs = [followUpInput({ ...followUp, message })];
  return approval && { ...approval, ...hashed(inputs, digest, approval.executes), authorIds: [...authors] };
}

/** Withdraws a follow-up that is held or waits for approval. A run that has nothing else to do is cancelled. */
export function decideWithdrawal(edit: RunEdit, id: string, withdrawnBy: PrincipalId): FollowUp {
  const followUp = requireHeld(edit, id);
  if (isWaitingForApproval(followUp)) {
    edit.withdrawFollowUp(followUp, withdrawnBy);
    releaseFollowUps(edit, "A follow-up before the next one was withdrawn.");
    return followUp;
  }
  requireFree(edit, followUp);
  edit.withdrawFollowUp(followUp, withdrawnBy);
  stopIfIdle(edit, followUp, "The follow-up was withdrawn.");
  return followUp;
}

/** Cancels the run if it was to continue only for this follow-up. What waits for approval can continue it again. */
function stopIfIdle(edit: RunEdit, followUp: FollowUp, message: string): void {
  const [next] = edit.deliverable;
  if (next !== undefined) {
    if (followUp.resumes === true && next.resumes !== true) {
      edit.markResuming(next);
    }
    return;
  }
  if (!hasNothingToDo(edit, followUp)) {
    return;
  }
  const [later] = edit.waiting;
  if (later !== undefined && later.resumes !== true) {
    edit.markResuming(later);
  }
  edit.set({ turnOpen: false });
  edit.moveTo("CANCELLED", { status: { message } });
}

function requireFree(edit: RunEdit, followUp: FollowUp): void {
  if (isNeededByAttempt(edit, followUp)) {
    throw notHeld("The running attempt already acts on the follow-up.");
  }
}

/**
 * A follow-up for the open turn is offered to the agent before the turn takes it, so its text may already be on its
 * way.
 */
function requireHeld({ run, aggregate }: RunEdit, id: string): FollowUp {
  const followUp = aggregate.waiting.find((waiting) => waiting.id === id);
  const mayBeGiven = deliverable(aggregate.waiting).some((waiting) => waiting.id === id);
  const isOffered = mayBeGiven && followUp?.delivery === "steer" && run.turnOpen && isWorkedOn(run.state);
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

/** Threads show only the beginning of a follow-up. */
const SHOWN_LENGTH = 500;

/** Shows a follow-up to people who read the run's threads elsewhere. */
export function followUpNotice(
  viewer: Viewer,
  { message }: Pick<FollowUpInput, "message">,
  { from, signInId }: Pick<TransactionExtras, "from" | "signInId">,
): Notice {
  if (viewer.invitation !== undefined) {
    return changeNotice({ displayName: "A guest" }, "asked over a share link", message);
  }
  const place = signInId === undefined ? "over the API" : "on the web";
  return changeNotice(viewer, `asked ${from?.integration ? `in ${from.integration}` : place}`, message);
}

export function changeNotice(
  { displayName = "A user" }: Pick<Viewer, "displayName">,
  did: string,
  message: string,
): Notice {
  const words = Array.from(message);
  const cut = words.length > SHOWN_LENGTH ? `${words.slice(0, SHOWN_LENGTH).join("")}…` : message;
  return { kind: "message", purpose: "reply", text: `${displayName} ${did}: ${cut}` };
}
