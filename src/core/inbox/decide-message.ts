import { AppError } from "../errors.ts";
import type { RequestOrigin } from "../runs/request-origin.ts";
import type { Run } from "../runs/run.ts";
import type { TransactionExtras } from "../runs/run-service.ts";
import type { InboxProcessorDeps, MessageContext } from "./arrival.ts";
import type { Disposition } from "./settlement.ts";
import { helpText, parseCommand } from "./words.ts";

/** What a message does, from whom it is known that he may. Each branch settles the event in the same transaction. */
export async function decideMessage(
  messageContext: MessageContext,
  deps: InboxProcessorDeps,
): Promise<Disposition> {
  if (messageContext.message.press !== undefined)
    return press(messageContext, messageContext.message.press, deps);
  const wish = parseCommand(messageContext.message.text);
  switch (wish.kind) {
    case "stop":
      return stop(messageContext, deps);
    case "status":
      return reply(messageContext, deps, await statusText(messageContext, deps));
    case "help":
      return reply(messageContext, deps, helpText(messageContext.trigger));
    case "new":
      return create(messageContext, deps, wish.prompt);
    case "work":
      return messageContext.thread.runId === undefined
        ? create(messageContext, deps, messageContext.message.text)
        : followUp(messageContext, deps);
    default:
      return wish satisfies never;
  }
}

async function create(
  messageContext: MessageContext,
  { runs }: InboxProcessorDeps,
  prompt: string,
): Promise<Disposition> {
  const { adapter, author, message, proven, thread } = messageContext;
  const { context, permalink, subject } = message;
  const request = {
    prompt,
    source: adapter.traits.source,
    creator: author,
    // An account's first message links it to a principal of its own, so there always is one.
    provenance: { ...message.provenance, ...proven, linked_account: author.id },
    ...(context === undefined ? {} : { context }),
    ...(subject === undefined ? {} : { title: subject }),
    ...(permalink === undefined ? {} : { triggerUrl: permalink }),
  };
  const binds = { thread, expected: thread.runId };
  await runs.create(request, { ...seen(messageContext, "run_created"), binds });
  return "run_created";
}

async function followUp(messageContext: MessageContext, { runs }: InboxProcessorDeps): Promise<Disposition> {
  const input = { message: messageContext.message.text, authorId: messageContext.author.id };
  await runs.followUp(
    currentRun(messageContext),
    messageContext.author,
    input,
    seen(messageContext, "follow_up"),
  );
  return "follow_up";
}

async function stop(messageContext: MessageContext, deps: InboxProcessorDeps): Promise<Disposition> {
  if (messageContext.thread.runId === undefined)
    return reply(messageContext, deps, "There is no run here that I could stop.");
  return cancel(messageContext, deps, currentRun(messageContext));
}

/** A button acts on the run it was shown with, in a thread of that run, though the thread may have another by now. */
async function press(
  messageContext: MessageContext,
  pressed: NonNullable<MessageContext["message"]["press"]>,
  deps: InboxProcessorDeps,
): Promise<Disposition> {
  const threads = await deps.storage.threads.listOf(pressed.runId);
  if (!threads.some(({ id }) => id === messageContext.thread.id))
    return reply(messageContext, deps, "That run is not one of this thread.");
  if (pressed.kind === "cancel") return cancel(messageContext, deps, pressed.runId);
  try {
    await deps.runs.answerPermission(
      pressed.runId,
      messageContext.author,
      pressed,
      seen(messageContext, "answered"),
    );
    return "answered";
  } catch (error) {
    return replyTo(error, messageContext, deps);
  }
}

async function cancel(
  messageContext: MessageContext,
  deps: InboxProcessorDeps,
  runId: Run["id"],
): Promise<Disposition> {
  try {
    await deps.runs.cancel(runId, messageContext.author, seen(messageContext, "cancelled"));
    return "cancelled";
  } catch (error) {
    return replyTo(error, messageContext, deps);
  }
}

/** What the run's state does not allow is said to whoever asked for it. */
async function replyTo(
  error: unknown,
  messageContext: MessageContext,
  deps: InboxProcessorDeps,
): Promise<Disposition> {
  const isAnswer =
    error instanceof AppError && (error.code === "invalid_request" || error.code === "conflict");
  if (!isAnswer) throw error;
  return reply(messageContext, deps, error.message);
}

async function reply(
  { message, settles, thread }: MessageContext,
  { storage }: InboxProcessorDeps,
  text: string,
): Promise<Disposition> {
  const notices = [...seenSign(message), { kind: "message", purpose: "reply", text } as const];
  await storage.inbox.settle({ ...settles, disposition: "replied" }, { thread, notices });
  return "replied";
}

async function statusText(messageContext: MessageContext, { runs }: InboxProcessorDeps): Promise<string> {
  if (messageContext.thread.runId === undefined) return "There is no run here yet.";
  const run = await runs.get({ id: messageContext.thread.runId }, messageContext.author);
  const reason = run.statusMessage === undefined ? "" : ` (${run.statusMessage.message})`;
  return `"${run.title}" is ${run.state}${reason}. ${runs.sessionLink(run)}`;
}

function seen(messageContext: MessageContext, disposition: Disposition): TransactionExtras {
  const { message, settles, thread } = messageContext;
  const says = { threadId: thread.id, notices: seenSign(message) };
  return { from: whenceOf(messageContext), settles: { ...settles, disposition }, says };
}

function whenceOf({ adapter, message: { installation, place } }: MessageContext): RequestOrigin {
  const { source } = adapter.traits;
  return { source, integration: adapter.name, installation, ...(place === undefined ? {} : { place }) };
}

/** A pressed button stands on a message of ours, which needs no sign that it was seen. */
function seenSign({ messageRef, press }: MessageContext["message"]) {
  return press === undefined ? [{ kind: "seen", messageRef } as const] : [];
}

function currentRun({ thread }: MessageContext): Run["id"] {
  if (thread.runId === undefined) throw new Error("A thread without a run was to be steered.");
  return thread.runId;
}
