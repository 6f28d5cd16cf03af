import { AppError } from "../../core/basics/errors.ts";
import type { ThreadKey } from "../../core/basics/ids.ts";

/** An issue, or a pull request with its review threads. Issues and pull requests share their numbers. */
export interface GithubThread {
  readonly repositoryId: number;
  readonly number: number;
}

const KEY = /^(\d+)\/issues\/(\d+)$/;

/** The key has no names, so a renamed repository keeps its conversations. */
export function threadKeyOf({ repositoryId, number }: GithubThread): ThreadKey {
  return `${repositoryId}/issues/${number}` as ThreadKey;
}

export function parseThreadKey(key: ThreadKey): GithubThread {
  const [, repositoryId, number] = KEY.exec(key) ?? [];
  if (repositoryId === undefined || number === undefined) {
    throw new AppError("invalid_request", "This is no thread of GitHub.");
  }
  return { repositoryId: Number(repositoryId), number: Number(number) };
}
