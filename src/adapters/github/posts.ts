import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Shown } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import type { BotIdentity } from "./identity.ts";
import type { Repository } from "./routes.ts";

const PAGE_SIZE = 100;
/** A comment whose answer was lost is among the newest, so older pages are not read. */
const MAX_PAGES = 5;

const idAnswer = z.object({ id: z.number() });
const createdAnswer = idAnswer.extend({ html_url: z.string().optional() });
const commentAnswer = createdAnswer.extend({
  body: z.string().nullish(),
  user: idAnswer.nullish(),
  performed_via_github_app: z.object({ id: z.number().nullish() }).nullish(),
});
const commentsAnswer = z.array(commentAnswer);
type Comment = z.infer<typeof commentAnswer>;

/** A conversation on GitHub with the current name of its repository. */
export interface CommentTarget extends Repository {
  readonly installation: string;
  readonly number: number;
  /** Set in a review thread: the comment that opened it. */
  readonly reviewCommentId?: number;
}

type Kind = "issue_comment" | "review_comment";

const UPDATE = {
  issue_comment: "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
  review_comment: "PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}",
} as const;

/** The bot's own comments: creates, updates and finds them. */
export class Posts {
  readonly #client: GithubClient;
  readonly #identity: BotIdentity;

  constructor(client: GithubClient, identity: BotIdentity) {
    this.#client = client;
    this.#identity = identity;
  }

  async create(target: CommentTarget, body: string): Promise<Shown> {
    const { installation, number, reviewCommentId: comment_id } = target;
    const { html_url: url, id } =
      comment_id === undefined
        ? await this.#client.callIn(installation, target, {
            route: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
            parameters: { issue_number: number, body },
            answer: createdAnswer,
          })
        : await this.#client.callIn(installation, target, {
            route: "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
            parameters: { pull_number: number, comment_id, body },
            answer: createdAnswer,
          });
    return defined({ kind: kindOf(target), id, url });
  }

  async update(target: CommentTarget, shown: Shown & { readonly kind: Kind }, body: string): Promise<Shown> {
    await this.#client.callIn(target.installation, target, {
      route: UPDATE[shown.kind],
      parameters: { comment_id: shown.id, body },
      answer: idAnswer,
    });
    return shown;
  }

  /** The newest comment of the bot that begins with `marker`. Users can copy the marker, so theirs do not count. */
  async find(target: CommentTarget, marker: string): Promise<(Shown & { readonly kind: Kind }) | undefined> {
    for await (const comments of this.#newestPages(target)) {
      for (const comment of comments.toReversed()) {
        if (!comment.body?.startsWith(marker)) {
          continue;
        }
        if (await this.#identity.isOurs(target.installation, comment)) {
          return defined({ kind: kindOf(target), id: comment.id, url: comment.html_url });
        }
      }
    }
    return undefined;
  }

  /** GitHub lists the oldest first. The `Link` header says which page has the newest. */
  async *#newestPages(target: CommentTarget): AsyncGenerator<readonly Comment[]> {
    const first = await this.#page(target, 1);
    const oldest = Math.max(2, first.lastPage - MAX_PAGES + 1);
    for (let page = first.lastPage; page >= oldest; page -= 1) {
      yield (await this.#page(target, page)).comments;
    }
    if (first.lastPage <= MAX_PAGES) {
      yield first.comments;
    }
  }

  async #page(
    target: CommentTarget,
    page: number,
  ): Promise<{ comments: readonly Comment[]; lastPage: number }> {
    const { installation, number } = target;
    const pages = { per_page: PAGE_SIZE, page };
    const { value, lastPage } =
      kindOf(target) === "issue_comment"
        ? await this.#client.listIn(installation, target, {
            route: "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
            parameters: { issue_number: number, ...pages },
            answer: commentsAnswer,
          })
        : await this.#client.listIn(installation, target, {
            route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments",
            parameters: { pull_number: number, ...pages },
            answer: commentsAnswer,
          });
    return { comments: value, lastPage };
  }
}

function kindOf({ reviewCommentId }: CommentTarget): Kind {
  return reviewCommentId === undefined ? "issue_comment" : "review_comment";
}
