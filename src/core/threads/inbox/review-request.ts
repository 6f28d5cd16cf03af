import { isKindNamed } from "../../model/policies/evaluate-policies.ts";
import { isReview } from "../../model/runs/review.ts";
import { isEnded } from "../../model/runs/states.ts";
import { wordsFirst } from "../../model/threads/own-words.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import {
  type AuthorizedContext,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
} from "./message-context.ts";
import { reply } from "./message-results.ts";
import { startRun } from "./start-run.ts";

const WHILE_REVIEWING =
  "I am reviewing this pull request, and a review changes nothing. Ask again when it has ended, or stop it first.";
const WHILE_WORKING = "I am working here. Ask for the review when I have ended, or stop me first.";

/** Whether a policy of the team asks for a review of each pull request that is opened there. */
export async function wantsReviews(
  context: Pick<MessageContext, "adapter" | "installation" | "message">,
  { policies }: Pick<InboxDeps, "policies">,
): Promise<boolean> {
  const { roles: _unknown, ...from } = requestOriginOf({ ...context, roles: [] });
  return isKindNamed(await policies.of(context.installation.teamId), from);
}

/**
 * A review may push nothing, and other work may, so each is a run of its own. Undefined: the message belongs to the run of
 * its thread.
 */
export async function startOtherRun(
  context: AuthorizedContext,
  deps: InboxDeps,
): Promise<Disposition | undefined> {
  const { message, thread } = context;
  const { asksForReview } = message;
  if (asksForReview === undefined || thread.runId === undefined) {
    return undefined;
  }
  const run = await deps.storage.runs.find({ id: thread.runId });
  if (run === undefined || isReview(run) === asksForReview || run.state === "BLOCKED") {
    return undefined;
  }
  return isEnded(run.state)
    ? startRun(context, deps, wordsFirst(message.text))
    : reply(context, deps, asksForReview ? WHILE_WORKING : WHILE_REVIEWING);
}
