import { AppError } from "../../core/errors.ts";
import type { ThreadKey } from "../../core/ids.ts";

/** An issue, a pull request, or one review thread of a pull request. Issues and pull requests share their numbers. */
export interface GithubThread {
  readonly repositoryId: number;
  readonly number: number;
  /** The comment that opened the review thread. */
  readonly reviewCommentId?: number;
}

const KEY = /^(\d+)\/issues\/(\d+)(?:\/review\/(\d+))?$/;

/** The key has no names, so a renamed repository keeps its conversations. */
export function threadKeyOf({ repositoryId, number, reviewCommentId }: GithubThread): ThreadKey {
  const review = reviewCommentId === undefined ? "" : `/review/${reviewCommentId}`;
  return `${repositoryId}/issues/${number}${review}` as ThreadKey;
}

export function parseThreadKey(key: ThreadKey): GithubThread {
  const [, repositoryId, number, review] = KEY.exec(key) ?? [];
  if (repositoryId === undefined || number === undefined) {
    throw new AppError("invalid_request", "This is no thread of GitHub.");
  }
  return {
    repositoryId: Number(repositoryId),
    number: Number(number),
    ...(review === undefined ? {} : { reviewCommentId: Number(review) }),
  };
}
