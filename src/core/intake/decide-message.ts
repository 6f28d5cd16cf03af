import { AppError } from "../errors.ts";
import type { Run } from "../runs/run.ts";
import type { Alongside } from "../runs/run-service.ts";
import type { Whence } from "../runs/whence.ts";
import type { Arrival, IntakeParts } from "./arrival.ts";
import type { Disposition } from "./settlement.ts";
import { helpText, wishOf } from "./words.ts";

/** What a message does, from whom it is known that he may. Each branch settles the event in the same transaction. */
export async function decideMessage(arrival: Arrival, parts: IntakeParts): Promise<Disposition> {
  if (arrival.message.press !== undefined) return press(arrival, arrival.message.press, parts);
  const wish = wishOf(arrival.message.text);
  switch (wish.kind) {
    case "stop":
      return stop(arrival, parts);
    case "status":
      return reply(arrival, parts, await statusText(arrival, parts));
    case "help":
      return reply(arrival, parts, helpText(arrival.trigger));
    case "new":
      return create(arrival, parts, wish.prompt);
    case "work":
      return arrival.thread.runId === undefined
        ? create(arrival, parts, arrival.message.text)
        : followUp(arrival, parts);
    default:
      return wish satisfies never;
  }
}

async function create(arrival: Arrival, { runs }: IntakeParts, prompt: string): Promise<Disposition> {
  const { adapter, author, message, proven, thread } = arrival;
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
  await runs.create(request, { ...seen(arrival, "run_created"), binds });
  return "run_created";
}

async function followUp(arrival: Arrival, { runs }: IntakeParts): Promise<Disposition> {
  const input = { message: arrival.message.text, authorId: arrival.author.id };
  await runs.followUp(currentRun(arrival), arrival.author, input, seen(arrival, "follow_up"));
  return "follow_up";
}

async function stop(arrival: Arrival, parts: IntakeParts): Promise<Disposition> {
  if (arrival.thread.runId === undefined)
    return reply(arrival, parts, "There is no run here that I could stop.");
  return cancel(arrival, parts, currentRun(arrival));
}

/** A button acts on the run it was shown with, in a thread of that run, though the thread may have another by now. */
async function press(
  arrival: Arrival,
  pressed: NonNullable<Arrival["message"]["press"]>,
  parts: IntakeParts,
): Promise<Disposition> {
  const threads = await parts.storage.threads.listOf(pressed.runId);
  if (!threads.some(({ id }) => id === arrival.thread.id))
    return reply(arrival, parts, "That run is not one of this thread.");
  if (pressed.kind === "cancel") return cancel(arrival, parts, pressed.runId);
  try {
    await parts.runs.answerPermission(pressed.runId, arrival.author, pressed, seen(arrival, "answered"));
    return "answered";
  } catch (error) {
    return replyTo(error, arrival, parts);
  }
}

async function cancel(arrival: Arrival, parts: IntakeParts, runId: Run["id"]): Promise<Disposition> {
  try {
    await parts.runs.cancel(runId, arrival.author, seen(arrival, "cancelled"));
    return "cancelled";
  } catch (error) {
    return replyTo(error, arrival, parts);
  }
}

/** What the run's state does not allow is said to whoever asked for it. */
async function replyTo(error: unknown, arrival: Arrival, parts: IntakeParts): Promise<Disposition> {
  const isAnswer =
    error instanceof AppError && (error.code === "invalid_request" || error.code === "conflict");
  if (!isAnswer) throw error;
  return reply(arrival, parts, error.message);
}

async function reply(
  { message, settles, thread }: Arrival,
  { storage }: IntakeParts,
  text: string,
): Promise<Disposition> {
  const notices = [...seenSign(message), { kind: "message", purpose: "reply", text } as const];
  await storage.inbox.settle({ ...settles, disposition: "replied" }, { thread, notices });
  return "replied";
}

async function statusText(arrival: Arrival, { runs }: IntakeParts): Promise<string> {
  if (arrival.thread.runId === undefined) return "There is no run here yet.";
  const run = await runs.get({ id: arrival.thread.runId }, arrival.author);
  const reason = run.statusMessage === undefined ? "" : ` (${run.statusMessage.message})`;
  return `"${run.title}" is ${run.state}${reason}. ${runs.sessionLink(run)}`;
}

function seen(arrival: Arrival, disposition: Disposition): Alongside {
  const { message, settles, thread } = arrival;
  const says = { threadId: thread.id, notices: seenSign(message) };
  return { from: whenceOf(arrival), settles: { ...settles, disposition }, says };
}

function whenceOf({ adapter, message: { installation, place } }: Arrival): Whence {
  const { source } = adapter.traits;
  return { source, integration: adapter.name, installation, ...(place === undefined ? {} : { place }) };
}

/** A pressed button stands on a message of ours, which needs no sign that it was seen. */
function seenSign({ messageRef, press }: Arrival["message"]) {
  return press === undefined ? [{ kind: "seen", messageRef } as const] : [];
}

function currentRun({ thread }: Arrival): Run["id"] {
  if (thread.runId === undefined) throw new Error("A thread without a run was to be steered.");
  return thread.runId;
}
