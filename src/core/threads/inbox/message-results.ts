import { defined } from "../../basics/defined.ts";
import { AppError, messageWithRemedy } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import { isOutsider } from "../../model/policies/evaluate-policies.ts";
import { type RefusalSign, UNADDRESSED_KINDS } from "../../model/policies/policy.ts";
import type { Notice, TurnOutcome } from "../../model/threads/notice.ts";
import type { Disposition, InboxResult, ThreadNotices } from "../../ports/stores/inbox-store.ts";
import { UniqueConflict } from "../../ports/stores/storage.ts";
import type { InboundMessage } from "../../ports/thread-adapter.ts";
import type { TransactionExtras } from "../../runs/transaction-extras.ts";
import {
  type AuthorizedContext,
  type ChosenEnvironment,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
} from "./message-context.ts";
import { withOptionName } from "./parse-command.ts";

/** Stores the result of an event that changes no run, and what is to be said in its thread. */
export async function complete(
  result: InboxResult,
  { storage }: Pick<InboxDeps, "storage">,
  threadNotices?: ThreadNotices,
): Promise<Disposition> {
  await storage.inbox.complete(result, threadNotices);
  return result.disposition;
}

/** Of two events with the same content, the second has no effect. */
export async function unlessDuplicate(
  { inboxId, installation, message, reportedRun }: Pick<MessageContext, "inboxId"> & Partial<MessageContext>,
  deps: InboxDeps,
  process: () => Promise<Disposition>,
): Promise<Disposition> {
  try {
    // Platforms report the same finding often, and it is not worth a look at its author.
    if (reportedRun && message && (await deps.storage.inbox.isTaken(message.dedupeKey))) {
      throw new UniqueConflict("dedupeKey");
    }
    return await process();
  } catch (error) {
    if (!(error instanceof UniqueConflict) || error.what !== "dedupeKey") {
      throw error;
    }
    const reason = "Another delivery had the same content.";
    const ofTeam = installation === undefined ? {} : { teamId: installation.teamId };
    return complete({ inboxId, disposition: "duplicate", reason, ...ofTeam }, deps);
  }
}

/** What the author of a request can change. */
const ANSWERED: readonly string[] = ["invalid_request", "conflict", "integration_not_configured"];

/** Posts as a reply that the request or the state of the run does not allow it. Throws any other failure. */
export async function replyWith(
  error: unknown,
  context: MessageContext,
  deps: InboxDeps,
): Promise<Disposition> {
  if (!(error instanceof AppError && ANSWERED.includes(error.code))) {
    throw error;
  }
  return reply(context, deps, withOptionName(messageWithRemedy(error)));
}

/** A message that gets a reply and nothing else has no reaction, because no turn would end it. */
export async function reply(context: MessageContext, deps: InboxDeps, text: string): Promise<Disposition> {
  const threadNotices = { thread: context.thread, notices: [replyNotice(context, text)] };
  return complete({ ...resultOf(context), disposition: "replied" }, deps, threadNotices);
}

/** What a change of a run stores in its own transaction: the result of the event, and the reaction to the message. */
export function completing(context: AuthorizedContext, disposition: Disposition): TransactionExtras {
  const { choice } = context;
  const reaction = disposition === "cancelled" ? endedNotice(context, "stopped") : seenNotice(context);
  const notices = [...reaction, ...(choice === undefined ? [] : [chosenNotice(choice)])];
  const threadNotices = { threadId: context.thread.id, notices: [...notices, ...unreadNotice(context)] };
  const answers = choice === undefined ? {} : { answers: choice.requestId };
  return {
    from: requestOriginOf(context),
    inboxResult: { ...resultOf(context), disposition, ...answers },
    threadNotices,
    warnings: context.gathered.gaps,
    startAfterMs: context.message.collectMs,
  };
}

/** What is shown in place of the question once a person has chosen. */
function chosenNotice({ by, environmentName, requestId, isRefusedForPlace }: ChosenEnvironment): Notice {
  const where =
    environmentName === undefined ? "I work without a repository" : `I work in ${environmentName}`;
  const who = by.displayName === undefined ? "" : `, as ${by.displayName} chose`;
  const text = `${where}${who}.${isRefusedForPlace ? ` ${NOT_REMEMBERED}` : ""}`;
  return { kind: "choice", requestId, text, options: [] };
}

const NOT_REMEMBERED = "It is not remembered for this place, because only administrators set that.";

/** A reply at the place of the message, for everybody or for its author alone. */
export function replyNotice(
  { adapter, message }: Pick<MessageContext, "adapter" | "message">,
  text: string,
  isPrivate = false,
): Notice {
  const { author, messageRef } = message;
  const place = adapter.traits.placeOf?.(messageRef);
  return defined({
    kind: "message",
    purpose: "reply",
    text,
    inReplyTo: place === undefined ? undefined : messageRef,
    onlyFor: isPrivate ? author.subject : undefined,
  });
}

/** 👀 until the turn ends that the message leads to. */
export function seenNotice(context: MessageContext): readonly Notice[] {
  return reactsTo(context) ? [{ kind: "seen", messageRef: context.message.messageRef }] : [];
}

/** For a message whose effect is complete, so that no turn ends it. */
export function endedNotice(context: MessageContext, end: TurnOutcome): readonly Notice[] {
  return reactsTo(context) ? [{ kind: "ended", messageRef: context.message.messageRef, end }] : [];
}

/** A button is on a message of the bot, which needs no reaction. */
function reactsTo({ message: { buttonAction, messageRef } }: MessageContext): boolean {
  return buttonAction === undefined && messageRef !== "";
}

/** Says in the thread what the agent does not know. */
function unreadNotice(context: AuthorizedContext): readonly Notice[] {
  const { unread = [] } = context.gathered;
  return unread.length === 0 ? [] : [replyNotice(context, unread.join("\n"))];
}

const NAMES_MAX = 3;

export interface Refusal {
  readonly reason: string;
  /** The policy that refused. Absent: no policy can allow it. */
  readonly policyName?: string | undefined;
  /** How that policy wants it answered. */
  readonly sign?: RefusalSign | undefined;
}

/** Refuses an author whom the rules admit to nothing, and says so only if that author asked for something. */
export async function refuseFor(
  context: MessageContext,
  refusal: Refusal,
  deps: InboxDeps,
): Promise<Disposition> {
  const signed = { ...context, refusalSign: refusal.sign };
  return refuse(signed, await textOf(context, refusal, deps), deps);
}

/** Refuses what a policy or a quota forbids. It is posted even to a member who did not address the bot. */
export async function refuseForbidden(
  context: AuthorizedContext,
  { message: reason, options }: AppError,
  deps: InboxDeps,
): Promise<Disposition> {
  const { policyName } = options;
  const text = await textOf(context, { reason, policyName }, deps);
  const policies = policyName === undefined ? [] : await deps.policies.of(context.installation.teamId);
  const refusalSign = policies.find(({ name }) => name === policyName)?.refusal;
  const signed = { ...context, refusalSign };
  return isOutsider(requestOriginOf(context)) || !isAddressed(context)
    ? refuse(signed, text, deps)
    : replyRefused(signed, text, deps);
}

/** Names of administrators are not posted in public. */
async function textOf(
  { adapter, installation }: MessageContext,
  refusal: Refusal,
  { storage }: InboxDeps,
): Promise<string> {
  return adapter.traits.hasPrivateReplies === true
    ? refusalText(refusal, installation.teamId, storage)
    : refusal.reason;
}

export async function refuse(context: MessageContext, reason: string, deps: InboxDeps): Promise<Disposition> {
  return isAnswered(context)
    ? replyRefused(context, reason, deps, refusalOfToday(context.message, reason, deps))
    : complete({ ...resultOf(context), disposition: "refused", reason }, deps);
}

/** A refusal is posted once a day: otherwise a stranger could use up what the platform lets the bot post. */
function refusalOfToday(
  { adapter, author, installation, key }: InboundMessage,
  reason: string,
  { clock }: InboxDeps,
): string {
  const day = clock.now().toISOString().slice(0, "2026-01-01".length);
  return ["refused", day, adapter, installation, key, author.subject, reason].join(" ");
}

/** Refuses and says so each time. */
export async function replyRefused(
  context: MessageContext,
  reason: string,
  deps: InboxDeps,
  onceKey?: string,
): Promise<Disposition> {
  const notices = refusalNotices(context, reason);
  const threadNotices = defined({ thread: context.thread, notices, once: onceKey });
  return complete({ ...resultOf(context), disposition: "refused", reason }, deps, threadNotices);
}

/** The policy or the repository may want less than a comment. A button cannot get a reaction. */
function refusalNotices(context: MessageContext, reason: string): readonly Notice[] {
  const sign = context.refusalSign ?? context.settings?.refusals;
  if (sign === "silent") {
    return [];
  }
  const reaction = sign === "reaction" ? endedNotice(context, "failed") : [];
  return reaction.length > 0 ? reaction : [replyNotice(context, reason, true)];
}

/** An author who did not address the bot gets no public refusal, and a program gets no answer. */
export function isAnswered({ message }: Pick<MessageContext, "message">): boolean {
  return message.addressed !== "reply" && message.author.isBot !== true && isAddressed({ message });
}

function isAddressed({ message: { requestKind } }: Pick<MessageContext, "message">): boolean {
  return !UNADDRESSED_KINDS.some((kind) => kind === requestKind);
}

/** A refusal with its rule and with the people who can change that. Only its author may read it. */
export async function refusalText(
  { policyName, reason }: Refusal,
  teamId: TeamId,
  { people }: Pick<InboxDeps["storage"], "people">,
): Promise<string> {
  if (policyName === undefined) {
    return reason;
  }
  return `${reason} The rule is “${policyName}”. ${namesOf(await people.list(teamId))} can change the rules.`;
}

function namesOf(people: readonly Principal[]): string {
  const names = people.flatMap(({ administrator, disabled, displayName, type }) =>
    administrator && !disabled && type === "user" && displayName !== undefined ? [displayName] : [],
  );
  const [first, ...more] = names.slice(0, NAMES_MAX).toReversed();
  if (first === undefined) {
    return "An administrator";
  }
  return more.length === 0 ? first : `${more.toReversed().join(", ")} and ${first}`;
}
