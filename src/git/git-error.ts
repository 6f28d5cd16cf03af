import { AppError } from "../core/errors.ts";
import { GitFailure } from "./git-command.ts";

const IS_EMPTY = /couldn't find remote ref HEAD/i;
/**
 * A missing repository and one without permission look the same from outside, because hosts give either answer for
 * both.
 */
const NOT_READABLE = [
  /repository '.*' not found/i,
  /does not (appear to be|exist)/i,
  /could not read (username|password)/i,
  /authentication failed/i,
  /requested URL returned error: (30\d|401|403|404|410)/i,
];
const NOT_THERE = /not our ref|unadvertised object|no such remote ref/i;

export function isEmptyRepository(error: unknown): boolean {
  return error instanceof GitFailure && IS_EMPTY.test(error.message);
}

/** The expected failure when `repository` could not be read. Git's output goes only to the log. */
export function fetchError(repository: string, error: GitFailure): AppError {
  if (error.kind === "missing") {
    return withoutGit(error);
  }
  if (error.kind === "too-large") {
    return tooLarge(repository, error);
  }
  if (NOT_THERE.test(error.message)) {
    return withoutCommit(repository, error);
  }
  if (NOT_READABLE.some((words) => words.test(error.message))) {
    return notReadable(repository, error);
  }
  return new AppError("resource_unavailable", `The repository ${repository} could not be fetched.`, {
    cause: error,
  });
}

function withoutGit(cause: unknown): AppError {
  return new AppError("operation_not_supported", "This server cannot read repositories: it has no git.", {
    cause,
    remedy: "Install git where Errand runs; until then put the instructions into config.base_prompt.",
  });
}

function tooLarge(repository: string, cause: unknown): AppError {
  return new AppError(
    "operation_not_supported",
    `The repository ${repository} is too large to be read, or damaged.`,
    {
      cause,
      remedy: "Keep the skill in a smaller repository.",
    },
  );
}

function notReadable(repository: string, cause: unknown): AppError {
  return new AppError(
    "resource_not_found",
    `There is no repository ${repository} that this server may read.`,
    {
      cause,
      remedy:
        "Check its present name. A private one must be opened to this server's own app, in an installation of your team, or to the token in the team secret GITHUB_TOKEN.",
    },
  );
}

function withoutCommit(repository: string, cause: unknown): AppError {
  return new AppError("resource_not_found", `The repository ${repository} no longer has the commit.`, {
    cause,
  });
}
