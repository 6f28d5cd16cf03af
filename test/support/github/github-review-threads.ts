import { GITHUB_APP, type GithubFixture } from "./github-fixture.ts";
import type { GraphqlOperation } from "./github-graphql.ts";

const BOT = `${GITHUB_APP.slug}[bot]`;
const PAGE_LENGTH = 100;

/**
 * The review threads of pull requests, which only GraphQL lists and resolves.
 * https://docs.github.com/graphql/reference/mutations#resolvereviewthread
 */
export class GithubReviewThreads {
  /** Whether the repository lets the App resolve them. */
  mayResolve = true;
  readonly operations: readonly GraphqlOperation[];
  readonly #world: GithubFixture;
  readonly #resolved = new Set<string>();

  constructor(world: GithubFixture) {
    this.#world = world;
    this.operations = [this.#list, this.#resolve];
  }

  /** Of a pull request, oldest first. */
  threads(number: number) {
    return this.#world
      .comments(this.#world.repo.fullName, number)
      .filter((row) => row.pull_number === number && !row.in_reply_to_id)
      .map((row) => {
        const id = `PRRT_${row.id}`;
        return { id, isResolved: this.#resolved.has(id), path: row.path ?? "", comment: row };
      });
  }

  /** A person resolves a thread on the page. */
  resolve(id: string): void {
    this.#resolved.add(id);
  }

  readonly #list: GraphqlOperation = (query, { after, name, number, owner }) => {
    if (!query.includes("reviewThreads(")) {
      return undefined;
    }
    if (`${owner}/${name}` !== this.#world.repo.fullName || !this.#world.isPullRequest(Number(number))) {
      const message = `Could not resolve to a PullRequest with the number of ${number}.`;
      return { type: "NOT_FOUND", message };
    }
    const all = this.threads(Number(number));
    const start = typeof after === "string" ? Number(after) : 0;
    const end = start + PAGE_LENGTH;
    const nodes = all.slice(start, end).map(({ comment, ...thread }) => {
      const viewerDidAuthor = this.#world.loginById(comment.user_id) === BOT;
      return {
        ...thread,
        comments: { nodes: [{ databaseId: comment.id, body: comment.body, viewerDidAuthor }] },
      };
    });
    const pageInfo = { hasNextPage: all.length > end, endCursor: String(end) };
    return { data: { repository: { pullRequest: { reviewThreads: { pageInfo, nodes } } } } };
  };

  readonly #resolve: GraphqlOperation = (query, { threadId }) => {
    if (!query.includes("resolveReviewThread(")) {
      return undefined;
    }
    const id = String(threadId);
    const numbers = this.#world.pullRequests().map(({ number }) => number);
    if (!numbers.some((number) => this.threads(number).some((thread) => thread.id === id))) {
      return { type: "NOT_FOUND", message: `Could not resolve to a node with the global id of '${id}'` };
    }
    if (!this.mayResolve) {
      return { type: "FORBIDDEN", message: "Resource not accessible by integration" };
    }
    // A thread that is resolved already stays so.
    this.#resolved.add(id);
    return { data: { resolveReviewThread: { thread: { isResolved: true } } } };
  };
}
