import { defined } from "../../basics/defined.ts";
import type { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import { isOutsider } from "../../model/policies/evaluate-policies.ts";
import { UNADDRESSED_KINDS } from "../../model/policies/policy.ts";
import type { Disposition } from "../../ports/stores/inbox-result.ts";
import type { InboundMessage } from "../../ports/thread-adapter.ts";
import {
  type AuthorizedContext,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
} from "./message-context.ts";
import { complete, replyNotice } from "./message-results.ts";

const NAMES_MAX = 3;

export interface Refusal {
  readonly reason: string;
  /** The policy that refused. Absent: no policy can allow it. */
  readonly policyName?: string | undefined;
}

/** Refuses an author whom the rules admit to nothing, and says so only if that author asked for something. */
export async function refuseFor(
  context: MessageContext,
  refusal: Refusal,
  deps: InboxDeps,
): Promise<Disposition> {
  return refuse(context, await textOf(context, refusal, deps), deps);
}

/** Refuses what a policy or a quota forbids. It is posted even to a member who did not address the bot. */
export async function refuseForbidden(
  context: AuthorizedContext,
  { message: reason, options }: AppError,
  deps: InboxDeps,
): Promise<Disposition> {
  const text = await textOf(context, { reason, policyName: options.policyName }, deps);
  return isOutsider(requestOriginOf(context)) || !isAddressed(context)
    ? refuse(context, text, deps)
    : replyRefused(context, text, deps);
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
  const notices = [replyNotice(context, reason, true)];
  const threadNotices = defined({ thread: context.thread, notices, once: onceKey });
  return complete({ ...resultOf(context), disposition: "refused", reason }, deps, threadNotices);
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
