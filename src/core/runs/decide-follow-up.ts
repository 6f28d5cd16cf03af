import type { PermissionOption } from "../agents/agent-runner.ts";
import { AppError } from "../errors.ts";
import type { PrincipalId } from "../ids.ts";
import type { PolicyAction } from "../policies/policy.ts";
import { needsApproval, requireApprovalAgain } from "./decide-approval.ts";
import type { FollowUpDelivery, PendingPermission, Run, RunMode } from "./run.ts";
import type { RunEdit } from "./run-edit.ts";
import { isEnded } from "./states.ts";

export interface FollowUpInput {
  readonly message: string;
  readonly mode?: RunMode;
  readonly delivery?: FollowUpDelivery;
  readonly private?: boolean;
  /** The id of a principal or, for a guest, of the share link. */
  readonly authorId: PrincipalId;
  /** A guest never answers a question of the run. */
  readonly byGuest?: true;
}

/**
 * What a follow-up does depends on the state of its run. Queued or moving: it is held for the next turn. Blocked by a
 * question: it answers the question, except when a guest wrote it. Blocked by an approval: it is held and never approves. Ended: the run is queued again.
 * Returns the follow-up's id, or undefined when the message was only an answer.
 */
export function decideFollowUp(edit: RunEdit, input: FollowUpInput): string | undefined {
  const { permission, state } = edit.run;
  if (state === "BLOCKED" && permission !== undefined && input.byGuest !== true) {
    return answerByText(edit, permission, input);
  }
  const id = hold(edit, input);
  if (!isEnded(state)) {
    return id;
  }
  edit.moveTo("QUEUED", { reason: "A follow-up came." });
  if (needsApproval(edit.run)) {
    requireApprovalAgain(edit);
  }
  return id;
}

/** The actions that a follow-up performs on the run: an answer, a follow-up, or both. */
export function actionsOf(
  { permission, state }: Run,
  { byGuest, message }: Pick<FollowUpInput, "byGuest" | "message">,
): readonly PolicyAction[] {
  if (state !== "BLOCKED" || permission === undefined || byGuest === true) {
    return ["follow_up"];
  }
  return isOnlyAnAnswer(permission, message) ? ["answer"] : ["answer", "follow_up"];
}

export function requireOption({ options }: PendingPermission, id: string): PermissionOption {
  const option = options.find(({ optionId }) => optionId === id);
  if (option !== undefined) {
    return option;
  }
  const message = `must be one of: ${options.map(({ optionId }) => optionId).join(", ")}`;
  throw new AppError("invalid_request", "The agent does not offer this answer.", {
    issues: [{ path: "option_id", message }],
  });
}

/**
 * Answers the open question with an option, or with "no" when `option` is undefined. A live agent continues at once.
 * Otherwise the run is queued again with the answer.
 */
export function decidePermission(
  edit: RunEdit,
  option: PermissionOption | undefined,
  answeredBy: PrincipalId,
): void {
  const { permission, lease } = edit.run;
  if (permission === undefined) {
    return;
  }
  const answer = option?.optionId ?? null;
  edit.record({ kind: "permission.answered", permissionId: permission.permissionId, optionId: answer });
  edit.set({ permission: { ...permission, answer, answeredBy } });
  const reason = `Answered: ${option?.name ?? "no"}`;
  if (lease === undefined) {
    storeLateAnswer(edit);
  }
  edit.moveTo(lease === undefined ? "QUEUED" : "INPROGRESS", { reason });
}

/** Turns an answer that no attempt received into a follow-up. The agent asks again, or knows the answer already. */
export function storeLateAnswer(edit: RunEdit): void {
  const { permission } = edit.run;
  if (permission?.answer === undefined || permission.answeredBy === undefined) {
    return;
  }
  const chosen = permission.options.find(({ optionId }) => optionId === permission.answer);
  const message = `You asked: ${permission.title}. The answer: ${chosen?.name ?? "no"}.`;
  hold(edit, { message, authorId: permission.answeredBy, private: edit.isPrivate });
  edit.set({ permission: undefined });
}

/** The pattern has only one `\s*`, because a second one would take minutes for a message full of spaces. */
const YES = /^(y|yes|yep|ok|okay|sure|allow|approved?|go|go ahead|do it|lgtm)\s*[.!]*$/i;
const NO = /^(n|no|nope|deny|denied|reject|rejected|don't|do not)\s*[.!]*$/i;

/** The option that `words` name, or undefined when they name none. */
export function optionMeant(permission: PendingPermission, words: string): PermissionOption | undefined {
  const said = words.trim();
  const folded = said.toLowerCase();
  const named =
    optionNamed(permission, (text) => text === said) ??
    optionNamed(permission, (text) => text.toLowerCase() === folded);
  if (named !== undefined) {
    return named;
  }
  if (YES.test(said)) {
    return optionOf(permission, "allow");
  }
  return NO.test(said) ? optionOf(permission, "reject") : undefined;
}

function optionNamed(
  { options }: PendingPermission,
  isSaid: (text: string) => boolean,
): PermissionOption | undefined {
  return options.find(({ name, optionId }) => isSaid(name) || isSaid(optionId));
}

/**
 * Words that are neither yes nor no must not grant a permission: they refuse it, and reach the agent as a follow-up.
 */
function answerByText(
  edit: RunEdit,
  permission: PendingPermission,
  input: FollowUpInput,
): string | undefined {
  const meant = optionMeant(permission, input.message);
  const id = isOnlyAnAnswer(permission, input.message) ? undefined : hold(edit, input);
  decidePermission(edit, meant ?? optionOf(permission, "reject"), input.authorId);
  return id;
}

function isOnlyAnAnswer(permission: PendingPermission, words: string): boolean {
  return optionMeant(permission, words) !== undefined || NO.test(words.trim());
}

function optionOf(permission: PendingPermission, side: "allow" | "reject"): PermissionOption | undefined {
  const once = permission.options.find(({ kind }) => kind === `${side}_once`);
  return once ?? permission.options.find(({ kind }) => kind === `${side}_always`);
}

function hold(edit: RunEdit, input: FollowUpInput): string {
  const { message, mode, authorId, byGuest, delivery = "queue", private: isPrivate = false } = input;
  return edit.addFollowUp({
    message,
    // A guest's message never reaches a turn whose agent may have personal secrets.
    delivery: byGuest === true && delivery === "steer" ? "queue" : delivery,
    private: isPrivate,
    authorId,
    ...(byGuest === undefined ? {} : { byGuest }),
    ...(mode === undefined ? {} : { mode }),
  });
}
