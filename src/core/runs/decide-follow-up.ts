import { defined } from "../basics/defined.ts";
import { AppError } from "../basics/errors.ts";
import type { PrincipalId } from "../basics/ids.ts";
import type { RequiredApproval } from "../model/policies/evaluate-policies.ts";
import type { PolicyAction } from "../model/policies/policy.ts";
import type { PermissionOption } from "../model/runs/agent-update.ts";
import type { FollowUpDelivery } from "../model/runs/follow-up.ts";
import type { LineComment } from "../model/runs/line-comment.ts";
import { shownQuestion } from "../model/runs/question-text.ts";
import type { Approval, PendingPermission, Run, RunMode } from "../model/runs/run.ts";
import type { RunSource } from "../model/runs/sources.ts";
import { isEnded } from "../model/runs/states.ts";
import { ownWords } from "../model/threads/own-words.ts";
import { type FollowUpFile, filesOfFollowUp, type InputFile } from "../model/workspaces/input-file.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import { type ApprovalTools, followUpInput, needsApproval, newApproval } from "./approval.ts";
import { requireApprovalAgain } from "./decide-approval.ts";
import { resumePaused } from "./decide-interrupt.ts";
import type { RunEdit } from "./run-edit.ts";

export interface FollowUpInput {
  readonly message: string;
  /** As in `FollowUp`. */
  readonly comments?: readonly LineComment[];
  /** Text around the message by any author. */
  readonly context?: string;
  readonly files?: readonly Omit<FollowUpFile, "path">[];
  readonly messageRef?: string;
  readonly threadId?: string;
  readonly mode?: RunMode;
  readonly delivery?: FollowUpDelivery;
  readonly private?: boolean;
  /** The id of a principal or, for a guest, of the share link. */
  readonly authorId: PrincipalId;
  /** As in `FollowUp`. */
  readonly actor?: Readonly<Record<string, unknown>>;
  readonly isReport?: true;
  readonly asksForPullRequest?: true;
  /** A guest never answers a question of the run. */
  readonly byGuest?: true;
  /** Default: the API. */
  readonly source?: RunSource;
}

/** A follow-up whose files are stored. */
export interface ReceivedFollowUp extends Omit<FollowUpInput, "files"> {
  readonly files?: readonly InputFile[];
}

/**
 * What becomes of a message: the running turn gets it (`live_session`), the first turn gets it with the prompt
 * (`queued_prompt`), it continues a run that had ended (`handoff_execution`), or it waits for the next turn, an answer or
 * an approval (`queue_pending`).
 */
export const FOLLOW_UP_OUTCOMES = [
  "live_session",
  "queued_prompt",
  "handoff_execution",
  "queue_pending",
] as const;
export type FollowUpOutcome = (typeof FOLLOW_UP_OUTCOMES)[number];

/** What a follow-up did: it became a follow-up that is held, or it answered the open question. */
export interface FollowUpEffect {
  /** Absent: no message was sent. */
  readonly outcome?: FollowUpOutcome;
  /** Absent if the message was an answer. */
  readonly followUpId?: string | undefined;
  /** The id of the option that the message chose. Absent if it refused and the agent offers no single refusal. */
  readonly answered?: string;
  /** True if the message was no answer to the question that the run waits for. */
  readonly questionOpen?: true;
}

export interface FollowUpRules extends ApprovalTools {
  /** What the policies require of this author. A run that itself waits for approval is approved as a whole. */
  readonly required?: RequiredApproval | undefined;
}

/** An approval is for the contents of the files. */
export async function withDigests(
  { files = [], ...input }: ReceivedFollowUp,
  blobs: Pick<BlobStore, "sha256">,
): Promise<FollowUpInput> {
  const digested: (InputFile & { readonly sha256: string })[] = [];
  for (const file of files) {
    digested.push({ ...file, sha256: await blobs.sha256(file.blobId) });
  }
  return digested.length === 0 ? input : { ...input, files: digested };
}

/** A run that tests an environment has no agent that could read a message. */
export function requireAgent({ preparesOnly }: Run): void {
  if (preparesOnly === true) {
    throw new AppError("operation_not_supported", "This run tests an environment: no agent works on it.", {
      remedy: "Start a run in this environment.",
    });
  }
}

/**
 * What a follow-up does depends on the state of its run. Queued, or a worker has it: it is held for the next turn. Blocked by a
 * question: it answers the question if it is plainly an answer, without files and not of a guest, otherwise it is held
 * and the question stays open. Blocked by an approval: it is held and never approves. Ended: the run is queued again.
 * A follow-up that waits for an approval of its own changes no state.
 */
export function decideFollowUp(edit: RunEdit, input: FollowUpInput, rules: FollowUpRules): FollowUpEffect {
  const { startedAt, state } = edit.run;
  const effect = applyFollowUp(edit, input, rules);
  const isToldAtOnce =
    effect.followUpId === undefined || (input.delivery === "steer" && input.byGuest !== true);
  if (edit.run.state === "INPROGRESS" && isToldAtOnce) {
    return { ...effect, outcome: "live_session" };
  }
  if (state !== edit.run.state && edit.run.state === "QUEUED" && effect.followUpId !== undefined) {
    return { ...effect, outcome: "handoff_execution" };
  }
  const isFirst = startedAt === undefined && !needsApproval(edit.run) && rules.required === undefined;
  return { ...effect, outcome: isFirst ? "queued_prompt" : "queue_pending" };
}

function applyFollowUp(edit: RunEdit, input: FollowUpInput, rules: FollowUpRules): FollowUpEffect {
  const { permission, state } = edit.run;
  if (input.asksForPullRequest === true) {
    requireDone(edit);
  }
  if (state === "BLOCKED" && permission !== undefined) {
    const answer = mayAnswer(input) ? answerIn(permission, input.message) : undefined;
    return answer === undefined
      ? { followUpId: holdWith(edit, input, rules), questionOpen: true }
      : answerByText(edit, answer, input.authorId);
  }
  if (needsApproval(edit.run)) {
    return { followUpId: holdUnapproved(edit, input, rules) };
  }
  if (!isEnded(state)) {
    const followUpId = holdWith(edit, input, rules);
    resumePaused(edit);
    return { followUpId };
  }
  const followUpId = holdWith(edit, { ...input, resumes: true }, rules);
  if (edit.deliverable.some(({ resumes }) => resumes === true)) {
    edit.moveTo("QUEUED", { reason: "A follow-up came." });
  }
  return { followUpId };
}

/** A pull request is made of work that is complete. */
function requireDone({ run, waiting }: RunEdit): void {
  if (waiting.some(({ asksForPullRequest }) => asksForPullRequest === true)) {
    throw new AppError("conflict", "A pull request of this work is already asked for.", { retryable: false });
  }
  if (!isEnded(run.state)) {
    throw new AppError("conflict", "The run is at work, so its changes are not complete.", {
      remedy: "Ask for the pull request once it has answered.",
      retryable: false,
    });
  }
}

/** The follow-up becomes one of the inputs that are approved together with the run. */
function holdUnapproved(edit: RunEdit, input: FollowUpInput, rules: FollowUpRules): string {
  if (!isEnded(edit.run.state)) {
    return hold(edit, input);
  }
  const followUpId = hold(edit, { ...input, resumes: true });
  edit.moveTo("QUEUED", { reason: "A follow-up came." });
  requireApprovalAgain(edit, rules);
  return followUpId;
}

/** Holds the follow-up, with an approval of its own if the policies require one. */
function holdWith(edit: RunEdit, input: HeldFollowUp, { required, ...tools }: FollowUpRules): string {
  if (required === undefined) {
    return hold(edit, input);
  }
  const id = edit.newId();
  const inputs = [followUpInput({ ...input, id })];
  return hold(edit, input, { id, approval: newApproval(edit.newId(), required, inputs, tools) });
}

/** The action that a follow-up performs on the run. */
export function actionOf(
  { permission, state }: Run,
  input: Pick<FollowUpInput, "byGuest" | "delivery" | "files" | "isReport" | "message">,
): PolicyAction {
  const isAnswer =
    state === "BLOCKED" &&
    permission !== undefined &&
    mayAnswer(input) &&
    answerIn(permission, input.message) !== undefined;
  return isAnswer ? "answer" : actionOfDelivery(input.delivery);
}

/** An answer has no turn of its own that could get files. */
function mayAnswer({
  byGuest,
  files = [],
  isReport,
}: Pick<FollowUpInput, "byGuest" | "files" | "isReport">): boolean {
  return byGuest !== true && isReport !== true && files.length === 0;
}

/** Policies distinguish a follow-up that acts on the running turn (`steer`) from one that waits. */
export function actionOfDelivery(delivery: FollowUpDelivery = "queue"): PolicyAction {
  return delivery === "queue" ? "follow_up" : "steer";
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
  hold(edit, { message, authorId: permission.answeredBy, private: edit.isPrivate, isAnswer: true });
  edit.set({ permission: undefined });
}

/** Phrases that are an agreement or a refusal alone, and those that may accompany one without being one. */
const YES = [
  ...["yes", "y", "ok", "okay", "sure", "allow", "approve", "approved"],
  ...["go ahead", "do it", "lgtm"],
];
const BESIDE_YES = ["please", "thanks", "now", "it"];
const NO = ["no", "nope", "deny", "reject", "don't", "do not"];
const BESIDE_NO = ["please", "thanks"];
/** Signs that answer alone, as people and as chats write them. */
const YES_SIGNS = ["👍", "+1", ":+1:", "✅", ":white_check_mark:"];
const NO_SIGNS = ["👎", "-1", ":-1:"];
/** The tone of a hand, and the character that makes a sign a picture. */
const SIGN_STYLE = /[\u{1F3FB}-\u{1F3FF}\uFE0F]|(?<=:):skin-tone-[2-6]:/gu;
const PHRASES_OF_TWO = /\b(?:go ahead|do it|do not)\b/g;

export interface TextAnswer {
  /** Undefined: a refusal, and the agent offers no option that refuses once. */
  readonly option: PermissionOption | undefined;
}

/**
 * The answer that a text gives, or undefined if it is none. A text that says anything besides yes or no is no answer,
 * because it must not grant or refuse what its author did not mean. A plain yes or no never decides about later
 * requests of the agent. A message allows nothing that its author may not have seen: a question of which threads show
 * only a part.
 */
export function answerIn(permission: PendingPermission, message: string): TextAnswer | undefined {
  const text = ownWords(message);
  const named = optionNamedBy(permission, message) ?? optionNamedBy(permission, text);
  if (named !== undefined) {
    const isAllowed = !named.kind.startsWith("allow") || shownQuestion(permission).isWhole;
    return isAllowed ? { option: named } : undefined;
  }
  const phrases = phrasesOf(text);
  const sign = text.replaceAll(SIGN_STYLE, "").trim();
  if (isMadeOf(phrases, YES, BESIDE_YES) || YES_SIGNS.includes(sign)) {
    const option = optionOfKind(permission, "allow_once");
    return option && shownQuestion(permission).isWhole ? { option } : undefined;
  }
  const isNo = isMadeOf(phrases, NO, BESIDE_NO) || NO_SIGNS.includes(sign);
  return isNo ? { option: optionOfKind(permission, "reject_once") } : undefined;
}

/** The exact text takes precedence, because two options may differ only in case or punctuation. */
function optionNamedBy({ options }: PendingPermission, text: string): PermissionOption | undefined {
  for (const form of [
    (words: string) => words.trim(),
    (words: string) => words.trim().toLowerCase(),
    plainWords,
  ]) {
    const said = form(text);
    const named = options.filter(
      ({ name, optionId }) => said !== "" && [name, optionId].map(form).includes(said),
    );
    if (named.length > 0) {
      return named[0];
    }
  }
  return undefined;
}

/** The words in lower case without punctuation, except the apostrophes in words. */
function plainWords(text: string): string {
  const words = text
    .toLowerCase()
    .replaceAll("\u2019", "'")
    .replaceAll(/(?!(?<=\p{L})'(?=\p{L}))\p{P}/gu, " ");
  return words
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");
}

function phrasesOf(text: string): readonly string[] {
  const joined = plainWords(text).replaceAll(PHRASES_OF_TWO, (phrase) => phrase.replace(" ", "_"));
  return joined.split(" ").map((phrase) => phrase.replace("_", " "));
}

function isMadeOf(
  phrases: readonly string[],
  deciding: readonly string[],
  beside: readonly string[],
): boolean {
  return (
    phrases.some((phrase) => deciding.includes(phrase)) &&
    phrases.every((phrase) => deciding.includes(phrase) || beside.includes(phrase))
  );
}

function optionOfKind(
  { options }: PendingPermission,
  kind: PermissionOption["kind"],
): PermissionOption | undefined {
  return options.find((option) => option.kind === kind);
}

function answerByText(edit: RunEdit, { option }: TextAnswer, answeredBy: PrincipalId): FollowUpEffect {
  decidePermission(edit, option, answeredBy);
  return option === undefined ? {} : { answered: option.optionId };
}

interface HeldFollowUp extends FollowUpInput {
  readonly resumes?: true;
  readonly isAnswer?: true;
}

function hold(
  edit: RunEdit,
  input: HeldFollowUp,
  { approval, id = edit.newId() }: { readonly approval?: Approval; readonly id?: string } = {},
): string {
  const { delivery = "queue", files = [], private: isPrivate = false, source = "API", ...others } = input;
  const followUp = {
    ...others,
    ...defined({ files: files.length === 0 ? undefined : filesOfFollowUp(id, files) }),
    // A guest's message never reaches a turn whose agent may have personal secrets.
    delivery: input.byGuest === true && delivery === "steer" ? "queue" : delivery,
    private: isPrivate,
    source,
    ...defined({ approval }),
  } as const;
  return edit.addFollowUp(followUp, id);
}
