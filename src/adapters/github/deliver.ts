import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import type { Delivery, Receipt } from "../../core/threads/thread-adapter.ts";
import type { GithubClient } from "./client.ts";
import type { Comments, Place } from "./comments.ts";
import { parseMessageRef } from "./message-ref.ts";
import { parseReceipt, receiptOf, type Shown } from "./receipt.ts";
import { markerOf, render } from "./render.ts";
import { findRepository } from "./repository.ts";
import { parseThreadKey } from "./thread-key.ts";

const reactionAnswer = z.object({ id: z.number() });

const REACTIONS = {
  issue_comment: "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions",
  review_comment: "POST /repos/{owner}/{repo}/pulls/comments/{id}/reactions",
  issue: "POST /repos/{owner}/{repo}/issues/{number}/reactions",
};

export interface DeliveryDeps {
  readonly client: GithubClient;
  readonly comments: Comments;
  readonly trigger: string;
}

/** Shows a notice: as a reaction, as the run's one comment that is edited in place, or as a comment of its own. */
export async function deliver(delivery: Delivery, deps: DeliveryDeps): Promise<Receipt> {
  const place = await findPlace(delivery, deps.client);
  const { notice } = delivery;
  const shown =
    notice.kind === "seen"
      ? await react(place, notice.messageRef, deps.client)
      : await show(delivery, place, deps);
  return receiptOf(shown);
}

async function findPlace({ thread }: Delivery, client: GithubClient): Promise<Place> {
  const { repositoryId, ...within } = parseThreadKey(thread.key);
  const repository = await findRepository(client, thread.installation, repositoryId);
  return { installation: thread.installation, ...repository, ...within };
}

/** Reacting twice is reacting once. A review cannot be reacted to over REST; its pull request can. */
async function react(place: Place, messageRef: string, client: GithubClient): Promise<Shown> {
  const { kind, id } = parseMessageRef(messageRef);
  const { installation, owner, repo, number } = place;
  const isComment = kind === "issue_comment" || kind === "review_comment";
  const call = {
    route: REACTIONS[isComment ? kind : "issue"],
    parameters: { owner, repo, ...(isComment ? { id } : { number }), content: "eyes" },
    answer: reactionAnswer,
  };
  return { kind: "reaction", id: (await client.call(installation, call)).id };
}

async function show(delivery: Delivery, place: Place, { comments, trigger }: DeliveryDeps): Promise<Shown> {
  const body = render(delivery, trigger);
  const edited = await editShown(delivery, place, { comments, body });
  if (edited) return edited;
  const earlier = delivery.maybeShown && (await comments.find(place, markerOf(delivery)));
  return earlier ? comments.update(place, earlier, body) : comments.create(place, body);
}

/** Edits the comment that shows this slot; undefined when there is none, or somebody deleted it. */
async function editShown(
  { shownAt }: Delivery,
  place: Place,
  { comments, body }: { readonly comments: Comments; readonly body: string },
): Promise<Shown | undefined> {
  const shown = shownAt && parseReceipt(shownAt);
  if (!shown || shown.kind === "reaction") return undefined;
  try {
    return await comments.update(place, { ...shown, kind: shown.kind }, body);
  } catch (error) {
    if (error instanceof AppError && error.code === "resource_not_found") return undefined;
    throw error;
  }
}
