import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError } from "../../../core/basics/errors.ts";
import type { ReviewFinding } from "../../../core/model/runs/review.ts";
import type { GithubClient } from "../client.ts";
import type { Repository } from "../routes.ts";

const PAGES_MAX = 10;
const MARKER = /^<!-- errand:finding=([\da-f]{16}) id=([a-z\d-]+)( fixed)? -->/;
const TITLE = /^\*\*(.*)\*\*$/m;

const THREADS = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          path
          comments(first: 1) { nodes { databaseId body viewerDidAuthor } }
        }
      }
    }
  }
}`;
const RESOLVE = `mutation ($threadId: ID!) {
  resolveReviewThread(input: { threadId: $threadId }) { thread { isResolved } }
}`;

const commentNode = z.object({ databaseId: z.int(), body: z.string(), viewerDidAuthor: z.boolean() });
const threadsAnswer = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
        nodes: z.array(
          z.object({
            id: z.string(),
            isResolved: z.boolean(),
            path: z.string(),
            comments: z.object({ nodes: z.array(commentNode) }),
          }),
        ),
      }),
    }),
  }),
});

export interface PullRequestPlace extends Repository {
  readonly installation: string;
  readonly number: number;
}

/** A review thread on a pull request. */
export interface ReviewThread {
  readonly id: string;
  readonly isResolved: boolean;
  readonly path: string;
  /** The comment that opened it. */
  readonly commentId: number;
  readonly body: string;
  readonly isOurs: boolean;
}

/** A review thread that Errand opened for a finding. */
export interface FindingThread extends ReviewThread {
  readonly findingId: string;
  readonly fingerprint: string;
  readonly title: string;
  /** Errand resolved it, because the finding was no longer there. */
  readonly isFixed: boolean;
}

/** The review threads of a pull request, oldest first. Only GraphQL names them. */
export async function readReviewThreads(
  client: GithubClient,
  { installation, number, owner, repo: name }: PullRequestPlace,
): Promise<readonly ReviewThread[]> {
  const threads: ReviewThread[] = [];
  let after: string | undefined;
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const variables = { owner, name, number, after };
    const answer = await client.graphql(installation, { query: THREADS, variables, answer: threadsAnswer });
    const { nodes, pageInfo } = answer.repository.pullRequest.reviewThreads;
    for (const { comments, ...thread } of nodes) {
      const [first] = comments.nodes;
      if (first !== undefined) {
        const { body, databaseId: commentId, viewerDidAuthor: isOurs } = first;
        threads.push({ ...thread, commentId, body, isOurs });
      }
    }
    if (!pageInfo.hasNextPage || !pageInfo.endCursor) {
      break;
    }
    after = pageInfo.endCursor;
  }
  return threads;
}

/** Those that Errand opened for findings. People can copy the marker, so theirs do not count. */
export function findingThreads(threads: readonly ReviewThread[]): readonly FindingThread[] {
  return threads.flatMap((thread) => {
    const [, fingerprint, findingId, fixed] = (thread.isOurs && MARKER.exec(thread.body)) || [];
    if (fingerprint === undefined || findingId === undefined) {
      return [];
    }
    const title = TITLE.exec(thread.body)?.[1] ?? "";
    return [{ ...thread, fingerprint, findingId, title, isFixed: fixed !== undefined }];
  });
}

/** The same for a finding in each review, wherever its lines are by then. */
export function fingerprintOf({ id, path }: Pick<ReviewFinding, "id" | "path">): string {
  return createHash("sha256")
    .update(JSON.stringify([path, id]))
    .digest("hex")
    .slice(0, 16);
}

export function findingMarker(finding: Pick<ReviewFinding, "id" | "path">): string {
  return `<!-- errand:finding=${fingerprintOf(finding)} id=${finding.id} -->`;
}

/** The comment of a finding that is no longer there. An edit notifies nobody. */
export function fixedBody(body: string, commit: string): string {
  return body.replace(
    MARKER,
    (marker) => `${marker.replace(/ -->$/, " fixed -->")}\n✅ Repaired in ${commit}.\n`,
  );
}

/** False: the repository does not allow it to the App, or the thread is gone. It can be repeated. */
export async function resolveThread(
  client: GithubClient,
  installation: string,
  threadId: string,
): Promise<boolean> {
  try {
    const call = { query: RESOLVE, variables: { threadId }, answer: z.unknown() };
    await client.graphql(installation, call);
    return true;
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return false;
    }
    throw error;
  }
}
