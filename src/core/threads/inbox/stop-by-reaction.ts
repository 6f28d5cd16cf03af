import { AppError } from "../../basics/errors.ts";
import { isEnded } from "../../model/runs/states.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { StopReaction } from "../../ports/thread-adapter.ts";
import { endQuestionsOf } from "./environment-choice.ts";
import type { InboxDeps } from "./message-context.ts";
import { complete } from "./message-results.ts";
import { effectOf } from "./message-revision.ts";

/**
 * Stops the run of a request, or the request that still waits for a choice, if the author of the request reacted to it.
 * Other reactions have no effect and no answer.
 */
export async function stopByReaction(
  { inboxId, stop }: { readonly inboxId: string; readonly stop: StopReaction },
  deps: InboxDeps,
): Promise<Disposition> {
  const { adapters, runs, storage } = deps;
  const { adapter, installation, messageId, subject } = stop;
  const ignore = (reason: string) => complete({ inboxId, disposition: "ignored", reason }, deps);
  const results = await storage.inbox.listResultsOf(messageId);
  if (await endQuestionsOf(results, { subject, end: "stopped" }, deps)) {
    return complete({ inboxId, disposition: "cancelled" }, deps);
  }
  const effect = effectOf(results);
  const run = effect?.isRequest === true ? await storage.runs.find({ id: effect.runId }) : undefined;
  if (run === undefined || isEnded(run.state)) {
    return ignore("A reaction to a message that did not start a run, or whose run has ended.");
  }
  const identity = await storage.identities.find(run.teamId, subject);
  const [author] = identity === undefined ? [] : await storage.people.getMany([identity.principalId]);
  if (author === undefined || author.disabled || author.id !== (run.requesterId ?? run.creatorId)) {
    return ignore("A reaction of a user who did not write the request.");
  }
  const source = adapters.get(adapter)?.traits.source ?? "API";
  const inboxResult = { inboxId, teamId: run.teamId, disposition: "cancelled" } as const;
  try {
    await runs.cancel(run.id, author, { from: { source, integration: adapter, installation }, inboxResult });
    return "cancelled";
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return ignore(error.message);
    }
    throw error;
  }
}
