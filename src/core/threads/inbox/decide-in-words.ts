import { titleFrom } from "../../basics/clean-text.ts";
import type { Run } from "../../model/runs/run.ts";
import type { CardApproval } from "../../model/threads/notice.ts";
import { splitText } from "../../model/threads/own-words.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { RunAggregate } from "../../ports/stores/run-store.ts";
import { approvalsOn } from "../../runs/notice-writer.ts";
import { type AuthorizedContext, type InboxDeps, triggerIn } from "./message-context.ts";
import { completing, reply, replyWith } from "./message-results.ts";

const WORDS = /^(approve|reject)(?:\s+#?(\d{1,4}))?\s*[.!]*$/i;
/** Nobody has read a text that was changed so shortly before. */
const UNREAD_MS = 10_000;

/**
 * Approves or refuses what waits in the thread, if the message says nothing else. Undefined: it does not, or nothing
 * waits. What is approved is what the thread shows: the hash of exactly that text.
 */
export async function decideInWords(
  context: AuthorizedContext,
  deps: InboxDeps,
): Promise<Disposition | undefined> {
  const [, word = "", number] = WORDS.exec(splitText(context.message.text).words.toLowerCase()) ?? [];
  if (word === "" || context.thread.runId === undefined) {
    return undefined;
  }
  const aggregate = await deps.storage.runs.getAggregate(context.thread.runId);
  const { run, waiting } = aggregate;
  const open = approvalsOn(run, waiting, context.adapter.traits.isPublic?.(run.provenance) === true);
  // Beside an open question, the word answers the question.
  if (open.length === 0 || run.permission !== undefined) {
    return undefined;
  }
  const chosen = number === undefined && open.length === 1 ? open[0] : open[Number(number ?? 0) - 1];
  const isRead = context.receivedAt.getTime() - changedAt(aggregate) >= UNREAD_MS;
  if (chosen?.inputsHash === undefined || !isRead) {
    const command = `\`${triggerIn(context)} ${word}\``;
    return reply(context, deps, whyNot(chosen, open, { command, page: deps.runs.sessionLink(run) }));
  }
  const decision = { inputsHash: chosen.inputsHash, approve: word === "approve" };
  try {
    await deps.runs.approve(run.id, context.author, decision, completing(context, "answered"));
    return "answered";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}

function whyNot(
  chosen: CardApproval | undefined,
  open: readonly CardApproval[],
  { command, page }: { readonly command: string; readonly page: string },
): string {
  if (chosen === undefined) {
    const list = open.map(({ text = "(private)" }, index) => `${index + 1}. ${titleFrom(text)}`);
    return `Write ${command} and one of these numbers:\n${list.join("\n")}`;
  }
  return chosen.inputsHash === undefined
    ? `I do not show all of it here, so it is decided on its page: ${page}`
    : `It has just changed. Read it again, and then write ${command}.`;
}

function changedAt({ run, waiting }: RunAggregate): number {
  const times = waiting.map(({ createdAt, editedAt }) => (editedAt ?? createdAt).getTime());
  return Math.max(lastChange(run), ...times);
}

/** The request of a run that waits for approval changes only with the run. */
function lastChange({ createdAt, state, updatedAt }: Run): number {
  return (state === "BLOCKED" ? updatedAt : createdAt).getTime();
}
