import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { Disposition, MessageResult } from "../../ports/stores/inbox-store.ts";
import type { Deletion } from "../../ports/thread-adapter.ts";
import type { TransactionExtras } from "../../runs/transaction-extras.ts";
import { endQuestionsOf } from "./environment-choice.ts";
import { withNames } from "./gather-context.ts";
import { type AuthorizedContext, type InboxDeps, type MessageEffect, resultOf } from "./message-context.ts";
import { complete, completing, reply, replyNotice, replyWith, unlessDuplicate } from "./message-results.ts";
import { parseCommand, parseOptions, type RequestOptions } from "./parse-command.ts";

/** What a message did, according to the results of its events. Undefined: nothing that an edit could change. */
export function effectOf(results: readonly MessageResult[]): MessageEffect | undefined {
  const last = results.findLast(({ disposition }) => CHANGEABLE.has(disposition));
  if (last?.runId === undefined || last.disposition === "withdrawn") {
    return undefined;
  }
  const { runId } = last;
  return {
    runId,
    isRequest: results.some((one) => one.disposition === "run_created" && one.runId === runId),
  };
}

const CHANGEABLE: ReadonlySet<Disposition> = new Set(["run_created", "follow_up", "changed", "withdrawn"]);

/** Gives the agent the new text of a message: in place of the old one if no turn has that, otherwise as a follow-up. */
export async function changeMessage(
  context: AuthorizedContext,
  effect: MessageEffect,
  deps: InboxDeps,
): Promise<Disposition> {
  const { author, message } = context;
  const command = parseCommand(message);
  const text = command.kind === "new" ? command.prompt : message.text;
  let request: RequestOptions = { config: {}, prompt: text };
  try {
    if (effect.isRequest) {
      request = await parseOptions(text, author, deps);
    }
  } catch (error) {
    return replyWith(error, context, deps);
  }
  request = { ...request, prompt: withNames(request.prompt, context.gathered) };
  const run = await deps.storage.runs.find({ id: effect.runId });
  if (run === undefined) {
    return complete({ ...resultOf(context), disposition: "ignored", reason: RUN_GONE }, deps);
  }
  const followUp = await deps.storage.followUps.findByMessage(run.id, message.messageRef);
  const target = { run, followUp, isRequest: effect.isRequest };
  if (isKnown(target, request.prompt)) {
    const reason = "The edit does not change what the agent gets.";
    return complete({ ...resultOf(context), disposition: "ignored", reason }, deps);
  }
  const isRewritten = await unlessDelivered(() => rewrite(context, target, request, deps));
  return isRewritten ? "changed" : addChange(context, target, request.prompt, deps);
}

interface ChangeTarget {
  readonly run: Run;
  /** The newest follow-up that came from the message. */
  readonly followUp: FollowUp | undefined;
  readonly isRequest: boolean;
}

function isKnown({ followUp, isRequest, run }: ChangeTarget, text: string): boolean {
  const latest = followUp?.message ?? (isRequest ? run.prompt : undefined);
  return latest === text || latest === changeText(isRequest, text);
}

/** Replaces the old text while no turn has it. Throws a conflict otherwise. */
async function rewrite(
  context: AuthorizedContext,
  { followUp, isRequest, run }: ChangeTarget,
  { config, prompt }: RequestOptions,
  { runs }: InboxDeps,
): Promise<void> {
  const { author } = context;
  const keepsOptions = Object.entries(config).every(([name, value]) => isSame(run.config[name], value));
  const extras = withNote(context, keepsOptions ? REWRITTEN : `${REWRITTEN} ${OPTIONS_STAY}`, "changed");
  if (followUp !== undefined) {
    const isChange = followUp.message.startsWith(changeText(isRequest, ""));
    const message = isChange ? changeText(isRequest, prompt) : prompt;
    await runs.followUps.rewrite({ runId: run.id, followUpId: followUp.id }, author, message, extras);
  } else if (isRequest) {
    await runs.rewriteRequest(run.id, author, prompt, extras);
  } else {
    throw new AppError("conflict", "The message was an answer, which the agent has.", { retryable: false });
  }
}

/** Sends the change as a follow-up, because the agent has the old text. A stopped run stays stopped. */
async function addChange(
  context: AuthorizedContext,
  { isRequest, run }: ChangeTarget,
  text: string,
  deps: InboxDeps,
): Promise<Disposition> {
  const { author, message } = context;
  if (run.state === "CANCELLED") {
    return reply(context, deps, STOPPED);
  }
  const { messageRef } = message;
  const { id: threadId } = context.thread;
  const input = { message: changeText(isRequest, text), messageRef, threadId, authorId: author.id };
  await deps.runs.followUps.send(run.id, author, input, withNote(context, ADDED, "follow_up"));
  return "follow_up";
}

function changeText(isRequest: boolean, text: string): string {
  return `${isRequest ? "The request" : "An earlier message"} was changed to: ${text}`;
}

const REWRITTEN = "The agent gets this message as you changed it.";
const OPTIONS_STAY = "The options at its front stay as they were: `new …` starts a run with others.";
const ADDED = "The agent already had this message. It gets your change as a follow-up.";
const STOPPED = "The run was stopped, so your change starts nothing. Mention me to continue it.";
const WITHDRAWN = "A message was withdrawn here before the agent got it.";
const DELIVERED =
  "The agent already has a message that was withdrawn here, and it cannot be taken back. `stop` stops the run.";
const RUN_GONE = "The run was deleted.";

function withNote(context: AuthorizedContext, text: string, disposition: Disposition): TransactionExtras {
  const extras = completing(context, disposition);
  const notices = [...(extras.threadNotices?.notices ?? []), replyNotice(context, text, true)];
  return { ...extras, threadNotices: { threadId: context.thread.id, notices } };
}

/** The deletion of a message that was not for the bot has no effect and no answer. */
export async function deleteMessage(
  inboxId: string,
  deletion: Deletion,
  deps: InboxDeps,
): Promise<Disposition> {
  const { messageId, version } = deletion;
  const results = await deps.storage.inbox.listResultsOf(messageId);
  const effect = effectOf(results);
  if (effect === undefined) {
    const revision = { messageId, version, isEdit: false };
    if (await endQuestionsOf(results, { end: "deleted" }, deps)) {
      return complete({ inboxId, disposition: "withdrawn", revision }, deps);
    }
    const reason = "A deleted message that had no effect.";
    return complete({ inboxId, disposition: "ignored", reason, revision }, deps);
  }
  return unlessDuplicate({ inboxId }, deps, () => withdrawMessage({ inboxId, deletion, effect }, deps));
}

interface WithdrawnMessage {
  readonly inboxId: string;
  readonly deletion: Deletion;
  readonly effect: MessageEffect;
}

/**
 * Withdraws what a message asked for, in the name of its author, after the message was deleted or became an aside. If the
 * agent already has the text, the thread says that it cannot be taken back.
 */
export async function withdrawMessage(
  { deletion, inboxId, effect }: WithdrawnMessage,
  deps: InboxDeps,
): Promise<Disposition> {
  const { adapter, installation, messageId, messageRef, version } = deletion;
  const { runs, storage } = deps;
  const revision = { messageId, version, isEdit: false };
  const run = await storage.runs.find({ id: effect.runId });
  if (run === undefined) {
    return complete({ inboxId, disposition: "ignored", reason: RUN_GONE, revision }, deps);
  }
  const result = { inboxId, teamId: run.teamId, dedupeKey: `${messageId} withdrawn ${version}`, revision };
  const threads = await storage.threads.listOf(run.id);
  const followUp = await storage.followUps.findByMessage(run.id, messageRef);
  const thread =
    threads.find(({ id }) => id === followUp?.threadId) ??
    threads.find((one) => one.adapter === adapter && one.installation === installation);
  const traits = deps.adapters.get(adapter)?.traits;
  const inReplyTo = traits?.placeOf?.(messageRef) === undefined ? {} : { inReplyTo: messageRef };
  const author = await authorOf(followUp?.authorId ?? run.requesterId ?? run.creatorId, deps);
  const delivered = { kind: "message", purpose: "reply", text: DELIVERED, ...inReplyTo } as const;
  // A change of a message that the agent has is a follow-up of its own.
  const isDelivered = followUp?.message.startsWith(changeText(effect.isRequest, "")) === true;
  const note: Notice = isDelivered ? delivered : { ...delivered, text: WITHDRAWN };
  const extras: TransactionExtras = defined({
    from: { source: traits?.source ?? "API", integration: adapter, installation },
    inboxResult: { ...result, disposition: "withdrawn" },
    threadNotices: thread === undefined ? undefined : { threadId: thread.id, notices: [note] },
  });
  const isWithdrawn = await unlessDelivered(() =>
    withdraw(run.id, followUp, { author, effect, extras, runs }),
  );
  if (isWithdrawn) {
    return "withdrawn";
  }
  const threadNotices = thread === undefined ? undefined : { thread, notices: [delivered] };
  return complete({ ...result, disposition: "replied", runId: run.id }, deps, threadNotices);
}

interface Withdrawal extends Pick<InboxDeps, "runs"> {
  readonly author: Principal;
  readonly effect: MessageEffect;
  readonly extras: TransactionExtras;
}

async function withdraw(
  runId: Run["id"],
  followUp: FollowUp | undefined,
  { author, effect, extras, runs }: Withdrawal,
): Promise<void> {
  if (followUp !== undefined) {
    await runs.followUps.withdraw({ runId, followUpId: followUp.id }, author, extras);
  } else if (effect.isRequest) {
    await runs.withdrawRequest(runId, author, extras);
  } else {
    throw new AppError("conflict", "The message was an answer, which the agent has.", { retryable: false });
  }
}

async function authorOf(id: PrincipalId, { storage }: InboxDeps): Promise<Principal> {
  const [author] = await storage.people.getMany([id]);
  if (author === undefined) {
    throw new Error("The author of the message is no principal.");
  }
  return author;
}

/** False if the agent has the message already. */
async function unlessDelivered(change: () => Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") {
      return false;
    }
    throw error;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
