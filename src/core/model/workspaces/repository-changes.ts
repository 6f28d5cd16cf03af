import type { RepositoryName } from "../repositories/repository-name.ts";

export const FILE_STATUSES = ["added", "modified", "deleted", "renamed"] as const;

/** A file that a run changed in a repository. */
export interface ChangedFile {
  readonly path: string;
  /** Before it was renamed. */
  readonly oldPath?: string;
  readonly status: (typeof FILE_STATUSES)[number];
  /** Lines; null for a binary file. */
  readonly additions: number | null;
  readonly deletions: number | null;
}

/** What a run has changed in one repository since it was cloned. */
export interface RepositoryChanges extends RepositoryName {
  /** The turn after which it was so. */
  readonly turn: number;
  /** The commit that was cloned. */
  readonly base: string;
  /** The branch that was pushed last, and its commit. */
  readonly branch?: string;
  readonly head?: string;
  /** The address of the pull request of that branch. */
  readonly pullRequest?: string;
  readonly files: readonly ChangedFile[];
  /** Whether `files` or the diff are incomplete, because they are too long. */
  readonly isTruncated: boolean;
  /** The unified diff. */
  readonly blobId: string;
  readonly sizeBytes: number;
}
