import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Notice, TurnOutcome } from "../../core/model/threads/notice.ts";
import type { Delivery, Receipt } from "../../core/ports/thread-adapter.ts";
import {
  parseMessageRef,
  parseReceipt,
  parseThreadKey,
  receiptOf,
  reviewThreadOf,
  type Shown,
} from "./addresses.ts";
import { showParts } from "./answer-parts.ts";
import { showCheck } from "./check-runs.ts";
import type { GithubClient } from "./client.ts";
import type { BotIdentity } from "./identity.ts";
import type { CommentTarget, Posts } from "./posts.ts";
import { markerOf, render } from "./render.ts";
import type { RepositoryNames } from "./repositories.ts";
import { postReview } from "./review/post-review.ts";
import { suggestWork } from "./review/suggest-work.ts";
import type { Repository } from "./routes.ts";

const reactionAnswer = z.object({ id: z.number() });

const REACTIONS = {
  issue_comment: "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
  review_comment: "POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
} as const;

const ENDED = { done: "rocket", failed: "-1", stopped: "confused" } as const satisfies Record<
  TurnOutcome,
  string
>;

/** Of a turn that is done, except that not everything was handed over. */
const INCOMPLETE = "confused";

export interface DeliveryDeps {
  readonly client: GithubClient;
  readonly identity: BotIdentity;
  readonly names: RepositoryNames;
  readonly posts: Posts;
  readonly trigger: string;
}

/** Shows a notice: as a reaction, as the run's card that is edited in place, or as a comment of its own. */
export async function deliver(delivery: Delivery, deps: DeliveryDeps): Promise<Receipt> {
  const { notice } = delivery;
  if (notice.kind === "check") {
    return receiptOf(await showCheck(delivery, notice.check, deps));
  }
  if (notice.kind === "message" && notice.review !== undefined) {
    return receiptOf(await postReview(delivery, { ...notice, review: notice.review }, deps));
  }
  const shown = await showOnce(delivery, deps);
  if (notice.kind === "message" && notice.parts !== undefined) {
    await showParts(delivery, { answer: shown, notice }, deps);
  }
  return receiptOf(shown);
}

async function showOnce(delivery: Delivery, deps: DeliveryDeps): Promise<Shown> {
  const { notice, thread } = delivery;
  if (notice.kind === "message" && notice.unpushed?.base !== undefined) {
    const suggested = await suggestWork(delivery, notice, deps);
    if (suggested !== undefined) {
      return suggested;
    }
  }
  const { installation } = thread;
  const { number, repositoryId } = parseThreadKey(thread.key);
  const review = notice.kind === "message" ? reviewThreadOf(notice.inReplyTo ?? "") : undefined;
  const within = defined({ number, reviewCommentId: review === undefined ? undefined : Number(review) });
  return deps.names.use(installation, repositoryId, (repository: Repository) => {
    const target = { installation, ...repository, ...within };
    return notice.kind === "seen" || notice.kind === "ended"
      ? react(target, notice, deps.client)
      : show(delivery, target, deps);
  });
}

/** GitHub keeps one reaction per user. REST has no reactions to reviews, so the pull request gets it. */
async function react(
  target: CommentTarget,
  notice: Extract<Notice, { readonly kind: "seen" | "ended" }>,
  client: GithubClient,
): Promise<Shown> {
  const { kind, id } = parseMessageRef(notice.messageRef);
  const { installation, number } = target;
  const content = contentOf(notice);
  const reaction =
    kind === "issue_comment" || kind === "review_comment"
      ? await client.callIn(installation, target, {
          route: REACTIONS[kind],
          parameters: { comment_id: id, content },
          answer: reactionAnswer,
        })
      : await client.callIn(installation, target, {
          route: "POST /repos/{owner}/{repo}/issues/{issue_number}/reactions",
          parameters: { issue_number: number, content },
          answer: reactionAnswer,
        });
  return { kind: "reaction", id: reaction.id };
}

function contentOf(notice: Extract<Notice, { readonly kind: "seen" | "ended" }>) {
  if (notice.kind === "seen") {
    return "eyes";
  }
  if (notice.isThanks === true) {
    return "heart";
  }
  return notice.isIncomplete === true ? INCOMPLETE : ENDED[notice.end];
}

async function show(
  delivery: Delivery,
  target: CommentTarget,
  { posts, trigger }: DeliveryDeps,
): Promise<Shown> {
  const body = render(delivery, trigger);
  const edited = await editShown(delivery, target, { posts, body });
  if (edited) {
    return edited;
  }
  const earlier = delivery.maybeShown && (await posts.find(target, markerOf(delivery)));
  return earlier ? posts.update(target, earlier, body) : posts.create(target, body);
}

/** Edits the comment with this message key; undefined if there is none, or it was deleted. */
async function editShown(
  { shownAt }: Delivery,
  target: CommentTarget,
  { posts, body }: { readonly posts: Posts; readonly body: string },
): Promise<Shown | undefined> {
  const shown = shownAt === undefined ? undefined : parseReceipt(shownAt);
  if (shown?.kind !== "issue_comment" && shown?.kind !== "review_comment") {
    return undefined;
  }
  try {
    return await posts.update(target, { ...shown, kind: shown.kind }, body);
  } catch (error) {
    if (error instanceof AppError && error.code === "resource_not_found") {
      return undefined;
    }
    throw error;
  }
}
