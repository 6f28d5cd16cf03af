import type { RunId } from "../../basics/ids.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { AuthorizedContext, InboxDeps } from "./message-context.ts";
import { completing, reply, replyWith } from "./message-results.ts";

const WORDS = "Create a pull request with the changes so far.";

/** Asks for the pull request of an ended run, as a follow-up that no agent gets. Once there is one, says where it is. */
export async function askForPullRequest(
  context: AuthorizedContext,
  deps: InboxDeps,
  runId: RunId,
): Promise<Disposition> {
  const { author, thread } = context;
  await deps.runs.get({ id: runId }, author);
  const changes = await deps.storage.files.changesOf(runId);
  const urls = changes.flatMap(({ pullRequest }) => pullRequest ?? []);
  if (urls.length > 0 && urls.length === changes.length) {
    return reply(context, deps, `The changes are in a pull request: ${urls.join(", ")}`);
  }
  const input = {
    message: WORDS,
    authorId: author.id,
    threadId: thread.id,
    asksForPullRequest: true,
  } as const;
  try {
    await deps.runs.followUps.send(runId, author, input, completing(context, "follow_up"));
    return "follow_up";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}
