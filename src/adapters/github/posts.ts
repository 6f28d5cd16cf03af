import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Shown } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import type { BotIdentity } from "./identity.ts";
import type { Repository } from "./repositories.ts";

const PAGE_SIZE = 100;
/** A comment whose answer was lost is among the newest, so older pages are not read. */
const MAX_PAGES = 5;

const idAnswer = z.object({ id: z.number() });
const createdAnswer = idAnswer.extend({ html_url: z.string().optional() });
const commentAnswer = z.object({
  id: z.number(),
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

interface Routes {
  readonly kind: "issue_comment" | "review_comment";
  readonly create: string;
  readonly list: string;
}

const CONVERSATION: Routes = {
  kind: "issue_comment",
  create: "POST /repos/{owner}/{repo}/issues/{number}/comments",
  list: "GET /repos/{owner}/{repo}/issues/{number}/comments",
};
const REVIEW_THREAD: Routes = {
  kind: "review_comment",
  create: "POST /repos/{owner}/{repo}/pulls/{number}/comments/{reviewCommentId}/replies",
  list: "GET /repos/{owner}/{repo}/pulls/{number}/comments",
};
const UPDATE = {
  issue_comment: "PATCH /repos/{owner}/{repo}/issues/comments/{id}",
  review_comment: "PATCH /repos/{owner}/{repo}/pulls/comments/{id}",
};

/** The bot's own comments: creates, updates and finds them. */
export class Posts {
  readonly #client: GithubClient;
  readonly #identity: BotIdentity;

  constructor(client: GithubClient, identity: BotIdentity) {
    this.#client = client;
    this.#identity = identity;
  }

  async create(target: CommentTarget, body: string): Promise<Shown> {
    const { kind, create: route } = routesOf(target);
    const { installation, ...parameters } = target;
    const { html_url: url, id } = await this.#client.call(installation, {
      route,
      parameters: { ...parameters, body },
      answer: createdAnswer,
    });
    return defined({ kind, id, url });
  }

  async update(target: CommentTarget, shown: Shown & Pick<Routes, "kind">, body: string): Promise<Shown> {
    const { installation, owner, repo } = target;
    const call = {
      route: UPDATE[shown.kind],
      parameters: { owner, repo, id: shown.id, body },
      answer: idAnswer,
    };
    await this.#client.call(installation, call);
    return shown;
  }

  /** The newest comment of the bot that begins with `marker`. Users can copy the marker, so theirs do not count. */
  async find(target: CommentTarget, marker: string): Promise<(Shown & Pick<Routes, "kind">) | undefined> {
    for await (const comments of this.#newestPages(target)) {
      for (const comment of comments.toReversed()) {
        if (!comment.body?.startsWith(marker)) {
          continue;
        }
        if (await this.#identity.isOurs(target.installation, comment)) {
          return { kind: routesOf(target).kind, id: comment.id };
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
    const { installation, owner, repo, number } = target;
    const parameters = { owner, repo, number, per_page: PAGE_SIZE, page };
    const call = { route: routesOf(target).list, parameters, answer: commentsAnswer };
    const { value, lastPage } = await this.#client.list(installation, call);
    return { comments: value, lastPage };
  }
}

function routesOf({ reviewCommentId }: CommentTarget): Routes {
  return reviewCommentId === undefined ? CONVERSATION : REVIEW_THREAD;
}
