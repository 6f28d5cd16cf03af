import { defined } from "../../basics/defined.ts";
import { shownQuestion } from "../../model/runs/question-text.ts";
import type { Run } from "../../model/runs/run.ts";
import { isEnded, STATE_PHRASES } from "../../model/runs/states.ts";
import { type Notice, ONLY_ON_PAGE } from "../../model/threads/notice.ts";
import { wordsFirst } from "../../model/threads/own-words.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { ButtonAction } from "../../ports/thread-adapter.ts";
import { storeInputFiles } from "../../requests/prepare/store-input-files.ts";
import type { FollowUpEffect } from "../../runs/decide-follow-up.ts";
import { statusText } from "../../runs/notice-writer.ts";
import { askForPullRequest } from "./ask-for-pull-request.ts";
import { attachFiles } from "./attach-files.ts";
import { decideInWords } from "./decide-in-words.ts";
import { endQuestionsIn } from "./environment-choice.ts";
import { contextText, withNames } from "./gather-context.ts";
import {
  type AuthorizedContext,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
  triggerIn,
} from "./message-context.ts";
import { complete, completing, endedNotice, reply, replyNotice, replyWith } from "./message-results.ts";
import { helpText, parseCommand } from "./parse-command.ts";
import { startOtherRun } from "./review-request.ts";
import { retryRun, startRun } from "./start-run.ts";
import { answerThanks } from "./thanks.ts";

/** Does what an authorized message asks for. Each branch stores the event's result in the same transaction. */
export async function executeCommand(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const { message } = context;
  if (message.buttonAction !== undefined) {
    return applyButton(context, message.buttonAction, deps);
  }
  const command = parseCommand(message);
  switch (command.kind) {
    case "stop":
      return stop(context, deps);
    case "pause":
      return pause(context, deps);
    case "status":
      return reply(context, deps, await runStatusText(context, deps));
    case "help":
      return reply(context, deps, helpText(triggerIn(context)));
    case "new":
      return startRun(context, deps, command.prompt);
    case "retry":
      return context.thread.runId === undefined
        ? reply(context, deps, "There is no run here that I could repeat.")
        : retryRun(context, deps, currentRun(context));
    case "mute":
    case "unmute":
      return mute(context, deps, command.kind === "mute");
    case "aside":
      throw new Error("An aside is ignored before its author is authorized.");
    case "work":
      return (
        (await decideInWords(context, deps)) ??
        (await answerThanks(context, deps)) ??
        (await startOtherRun(context, deps)) ??
        work(context, deps)
      );
    default:
      return command satisfies never;
  }
}

function work(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const { message, thread } = context;
  return thread.runId === undefined
    ? startRun(context, deps, wordsFirst(message.text))
    : followUp(context, deps);
}

/** In a muted thread, the bot takes only mentions, and the card changes only for a question and at the end. */
async function mute(context: AuthorizedContext, deps: InboxDeps, isMuted: boolean): Promise<Disposition> {
  const { author, thread } = context;
  if (thread.runId === undefined) {
    return reply(context, deps, noRunText(context));
  }
  await deps.runs.requireControl(thread.runId, author, requestOriginOf(context));
  const { threads } = deps.storage;
  await threads.setNeedsMention(thread.id, isMuted);
  await threads.setVerbosity(thread.id, isMuted ? "quiet" : "normal");
  return reply(context, deps, isMuted ? MUTED : UNMUTED);
}

const MUTED = "I take only messages that mention me now, and I show only questions and the end.";
const UNMUTED = "I take replies in this thread again, and I show what the run does.";

/** The people whom the author of a run mentions may steer it as well. */
async function invite(context: AuthorizedContext, { runs, storage }: InboxDeps): Promise<void> {
  const { author, message, thread } = context;
  const { mentions = [] } = message;
  if (mentions.length === 0) {
    return;
  }
  const { creatorId, requesterId } = await runs.get({ id: currentRun(context) }, author);
  if (author.id === (requesterId ?? creatorId)) {
    await storage.threads.addParticipants(thread.id, mentions);
  }
}

async function followUp(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const { author, gathered, message, reportedRun } = context;
  const surroundings = contextText(message.context, gathered);
  const { files = [] } = gathered;
  const input = defined({
    message: withNames(message.text, gathered),
    messageRef: message.messageRef === "" ? undefined : message.messageRef,
    isReport: reportedRun === undefined ? undefined : (true as const),
    threadId: context.thread.id,
    authorId: author.id,
    actor: reportedRun === undefined ? actorIn(context) : undefined,
    context: surroundings,
    files: files.length === 0 ? undefined : await storeInputFiles(deps.blobs, files),
  });
  const extras = {
    ...completing(context, "follow_up"),
    noticesFor: (effect: FollowUpEffect, run: Run) => noticesFor(effect, run, context, deps.runs),
  };
  await invite(context, deps);
  await deps.runs.followUps.send(currentRun(context), author, input, extras);
  return "follow_up";
}

/** The account of the author, as the platform proved it or the adapter read it. */
function actorIn({ message, proven }: AuthorizedContext): Readonly<Record<string, unknown>> | undefined {
  const { actor }: { readonly actor?: unknown } = { ...message.provenance, ...proven };
  return typeof actor === "object" && actor !== null ? { ...actor } : undefined;
}

/** An answer has no turn that would end it. The author of another text learns that the run still waits for an answer. */
function noticesFor(
  { followUpId, questionOpen }: FollowUpEffect,
  run: Run,
  context: AuthorizedContext,
  runs: Pick<InboxDeps["runs"], "sessionLink">,
): readonly Notice[] {
  if (followUpId === undefined) {
    return endedNotice(context, "done");
  }
  if (questionOpen !== true || context.reportedRun !== undefined) {
    return [];
  }
  const isWhole = run.permission === undefined || shownQuestion(run.permission).isWhole;
  const how = isWhole
    ? ANSWER_IN_WORDS
    : `Its question is still open. ${ONLY_ON_PAGE} ${runs.sessionLink(run)}`;
  return [replyNotice(context, `The agent gets this message with its next turn. ${how}`)];
}

const ANSWER_IN_WORDS =
  "Its question is still open, because this was no answer: answer with yes, no or the name of an option, and nothing else.";

/** Stops the run of the thread, and requests in it that wait for a choice. */
async function stop(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const { author, message, thread } = context;
  const whose = author.administrator ? {} : { subject: message.author.subject };
  const isStopped = await endQuestionsIn(thread.id, { end: "stopped", ...whose }, deps);
  if (isStopped) {
    const run = thread.runId && (await deps.storage.runs.find({ id: thread.runId }));
    if (!run || isEnded(run.state)) {
      return complete({ ...resultOf(context), disposition: "cancelled" }, deps);
    }
  }
  return thread.runId === undefined
    ? reply(context, deps, "There is no run here that I could stop.")
    : cancel(context, deps, thread.runId);
}

/** A button acts on the run that it was shown with, also if its thread has another current run by now. */
async function applyButton(
  context: AuthorizedContext,
  action: ButtonAction,
  deps: InboxDeps,
): Promise<Disposition> {
  if (action.kind === "choose") {
    throw new Error("A choice is processed as the request that it is about.");
  }
  const threads = await deps.storage.threads.listOf(action.runId);
  if (!threads.some(({ id }) => id === context.thread.id)) {
    return reply(context, deps, "That run is not one of this thread.");
  }
  if (action.kind === "cancel") {
    return cancel(context, deps, action.runId);
  }
  if (action.kind === "retry") {
    return retryRun(context, deps, action.runId);
  }
  if (action.kind === "files") {
    return attachFiles(context, deps, action);
  }
  if (action.kind === "pull_request") {
    return askForPullRequest(context, deps, action.runId);
  }
  const extras = completing(context, "answered");
  try {
    if (action.kind === "rate") {
      const { ratedTurn, rating } = action;
      const noticesFor = () => [replyNotice(context, RATED, true)];
      await deps.runs.rate(action.runId, context.author, { ratedTurn, rating }, { ...extras, noticesFor });
    } else if (action.kind === "approve") {
      await deps.runs.approve(action.runId, context.author, action, extras);
    } else {
      await deps.runs.answerPermission(action.runId, context.author, action, extras);
    }
    return "answered";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}

const RATED = "Thank you. Your rating is kept with the run. Press again to change it.";

async function pause(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const { runId } = context.thread;
  if (runId === undefined) {
    return reply(context, deps, "There is no run here that I could pause.");
  }
  try {
    await deps.runs.interrupt(runId, context.author, completing(context, "follow_up"));
    return "follow_up";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}

async function cancel(context: AuthorizedContext, deps: InboxDeps, runId: Run["id"]): Promise<Disposition> {
  try {
    await deps.runs.cancel(runId, context.author, completing(context, "cancelled"));
    return "cancelled";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}

async function runStatusText(context: AuthorizedContext, { runs, storage }: InboxDeps): Promise<string> {
  const { author, thread } = context;
  if (thread.runId === undefined) {
    const [asked] = await storage.inbox.listAskedIn(thread.id);
    return asked === undefined ? noRunText(context) : UNDECIDED;
  }
  const run = await runs.get({ id: thread.runId }, author);
  const reason = run.statusMessage === undefined ? "" : ` ${statusText(run.statusMessage)}`;
  return `"${run.title}" ${STATE_PHRASES[run.state]}.${reason}\n${runs.sessionLink(run)}`;
}

const UNDECIDED = "A request here waits until its author or an administrator chooses where I should work.";

function noRunText(context: MessageContext): string {
  return `There is no run here yet. \`${triggerIn(context)} <task>\` starts one.`;
}

function currentRun({ thread }: MessageContext): Run["id"] {
  if (thread.runId === undefined) {
    throw new Error("The thread has no run.");
  }
  return thread.runId;
}
