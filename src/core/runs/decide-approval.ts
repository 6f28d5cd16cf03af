import { defined } from "../basics/defined.ts";
import { AppError } from "../basics/errors.ts";
import type { PrincipalId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Approval, ApprovalInput, Run } from "../model/runs/run.ts";
import { isEnded, STATE_PHRASES } from "../model/runs/states.ts";
import {
  type ApprovalTools,
  approvalMessage,
  followUpInput,
  hashed,
  needsApproval,
  newApproval,
  objectionTo,
  requestInputs,
} from "./approval.ts";
import { endAsCancelled } from "./decide-cancel.ts";
import { resumePaused } from "./decide-interrupt.ts";
import type { RunEdit } from "./run-edit.ts";

export interface ApprovalDecision {
  readonly approve: boolean;
  /** The hash of the inputs that the person has seen. */
  readonly inputsHash: string;
  readonly comment?: string;
  readonly decidedBy: PrincipalId;
  /** What the person is in the thread of the run, if that allows the decision. */
  readonly decidedAs?: string;
  /** The name of the person who decided. */
  readonly name: string | undefined;
}

/** A run that was never approved and restarts needs approval again, so that a follow-up cannot bypass it. */
export function requireApprovalAgain(edit: RunEdit, tools: ApprovalTools): void {
  const { approval } = edit.run;
  if (approval === undefined) {
    return;
  }
  edit.moveTo("BLOCKED", { status: approvalMessage(approval) });
  edit.requestApproval(newApproval(edit.newId(), approval, inputsNow(edit, approval), tools));
}

/** Updates the inputs of the run's open approval after a change. */
export function updateApproval(edit: RunEdit, { authorIds, digest }: ApprovalTools): void {
  const { approval, state } = edit.run;
  if (state !== "BLOCKED" || approval === undefined || approval.approved !== undefined) {
    return;
  }
  const now = hashed(inputsNow(edit, approval), digest, approval.executes);
  if (now.inputsHash !== approval.inputsHash) {
    const authors = new Set([...approval.authorIds, ...authorIds]);
    edit.requestApproval({ ...approval, ...now, authorIds: [...authors] });
  }
}

/** The files of a request never change, so the digests of its files are still true. */
function inputsNow({ run, waiting }: RunEdit, { inputs }: Approval): readonly ApprovalInput[] {
  const files = inputs.find(({ followUpId }) => followUpId === undefined)?.attachments ?? [];
  const followUps = waiting.filter(({ isAnswer }) => isAnswer !== true);
  return [...requestInputs(run, files), ...followUps.map(followUpInput)];
}

/** What a decision is about: the run, or one follow-up. */
export interface ApprovalTarget {
  readonly approval: Approval;
  readonly followUp?: FollowUp;
}

/** Throws a conflict if nothing with this hash waits or was decided lately. */
export function findApproval({ run, aggregate }: RunEdit, inputsHash: string): ApprovalTarget {
  if (run.approval?.inputsHash === inputsHash) {
    return { approval: run.approval };
  }
  for (const followUp of [...aggregate.waiting, ...aggregate.taken]) {
    if (followUp.approval?.inputsHash === inputsHash) {
      return { approval: followUp.approval, followUp };
    }
  }
  const isOpen =
    (run.state === "BLOCKED" && needsApproval(run) && run.permission === undefined) ||
    run.waitingFollowUp !== undefined;
  throw isOpen
    ? conflict("What waits for approval has changed since you read it.", LOOK_AGAIN)
    : conflict("Nothing waits for approval here any more, or it has changed.");
}

/**
 * An approved run is queued, a refused one is cancelled. An approved follow-up is held like any other, a refused one is
 * withdrawn alone. The same decision again changes nothing.
 */
export function decideApproval(
  edit: RunEdit,
  { approval, followUp }: ApprovalTarget,
  decision: ApprovalDecision,
): void {
  const { approve, comment, decidedAs, decidedBy } = decision;
  if (approval.approved === approve) {
    return;
  }
  if (approval.approved !== undefined) {
    throw conflict("The opposite was already decided.");
  }
  const decided = {
    ...approval,
    approved: approve,
    decidedBy,
    decidedAt: edit.now,
    ...defined({ decidedAs }),
  };
  const said = comment === undefined ? {} : { comment };
  if (followUp === undefined) {
    requireBlocked(edit);
    edit.decideApproval(decided, said);
    moveRun(edit, decision);
  } else {
    edit.decideApproval(decided, said, followUp);
    const reason = approve ? "A follow-up was approved." : "The follow-up before the next one was refused.";
    releaseFollowUps(edit, reason);
  }
}

/**
 * Continues a run that has ended if a follow-up may be given now that had to wait for an approval. A cancelled run
 * continues only for what was sent after the cancellation.
 */
export function releaseFollowUps(edit: RunEdit, reason: string): void {
  resumePaused(edit);
  const free = edit.deliverable.filter(({ isAnswer }) => isAnswer !== true);
  const [first] = free;
  if (!isEnded(edit.run.state) || first === undefined) {
    return;
  }
  if (!free.some(({ resumes }) => resumes === true)) {
    if (edit.run.state === "CANCELLED") {
      return;
    }
    edit.markResuming(first);
  }
  edit.moveTo("QUEUED", { reason });
}

function requireBlocked({ run: { state } }: RunEdit): void {
  if (state !== "BLOCKED") {
    throw conflict(`The run no longer waits for approval: it ${STATE_PHRASES[state]}.`);
  }
}

function moveRun(edit: RunEdit, decision: ApprovalDecision): void {
  const message = decisionText(decision);
  if (decision.approve) {
    edit.moveTo("QUEUED", { reason: message });
  } else {
    endAsCancelled(edit, decision.decidedBy, message);
  }
}

function decisionText({ approve, comment, name }: ApprovalDecision): string {
  const by = name === undefined ? "" : ` by ${name}`;
  const words = comment === undefined ? "." : `: ${comment}`;
  return `${approve ? "Approved" : "Refused"}${by}${words}`;
}

const LOOK_AGAIN = "Read the run's approval again, and decide about the inputs that it has now.";
const LOOK = "Look at the run: there is nothing to decide any more.";

function conflict(message: string, remedy = LOOK): AppError {
  return new AppError("conflict", message, { retryable: false, remedy });
}

/** Throws `not_authorized` if the viewer may not decide about these inputs. */
export function requireOtherAuthor(run: Run, { approval, followUp }: ApprovalTarget, viewer: Viewer): void {
  const { authorIds } = approval;
  const authors =
    followUp === undefined
      ? { authorIds, isRequest: true }
      : { authorIds: [followUp.authorId, ...authorIds], isRequest: false };
  const objection = objectionTo(viewer, run, authors);
  if (objection !== undefined) {
    throw new AppError("not_authorized", objection);
  }
}
