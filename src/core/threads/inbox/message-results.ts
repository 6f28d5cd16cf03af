import { defined } from "../../basics/defined.ts";
import { AppError, messageWithRemedy } from "../../basics/errors.ts";
import type { Notice, TurnOutcome } from "../../model/threads/notice.ts";
import type { Disposition, InboxResult } from "../../ports/stores/inbox-result.ts";
import type { ThreadNotices } from "../../ports/stores/inbox-store.ts";
import type { TransactionExtras } from "../../runs/transaction-extras.ts";
import {
  type AuthorizedContext,
  type ChosenEnvironment,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
} from "./message-context.ts";
import { withOptionName } from "./parse-options.ts";

/** Stores the result of an event that changes no run, and what is to be said in its thread. */
export async function complete(
  result: InboxResult,
  { storage }: Pick<InboxDeps, "storage">,
  threadNotices?: ThreadNotices,
): Promise<Disposition> {
  await storage.inbox.complete(result, threadNotices);
  return result.disposition;
}

/** Posts as a reply that the request or the state of the run does not allow it. Throws any other failure. */
export async function replyWith(
  error: unknown,
  context: MessageContext,
  deps: InboxDeps,
): Promise<Disposition> {
  const isAnswer =
    error instanceof AppError && (error.code === "invalid_request" || error.code === "conflict");
  if (!isAnswer) {
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
