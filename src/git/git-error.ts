import { AppError } from "../core/basics/errors.ts";
import { GitFailure } from "./git-command.ts";

const IS_EMPTY = /couldn't find remote ref HEAD/i;
/**
 * A missing repository and one without permission may look the same from outside, because hosts may give either answer
 * for both.
 */
const NOT_READABLE = [
  /repository '.*' not found/i,
  /does not (appear to be|exist)/i,
  /requested URL returned error: (30\d|404|410)/i,
];
/** Hosts ask for a key also where there is no such repository. */
const WANTS_KEY =
  /could not read (username|password)|authentication failed|requested URL returned error: 401/i;
const FORBIDDEN = /requested URL returned error: 403/i;
/**
 * Git's errors, and what they mean for people. The text of the error contains addresses, so it goes only to the
 * log.
 */
const NETWORK: readonly (readonly [RegExp, string])[] = [
  [/could not resolve/i, "the name of the git host is unknown"],
  [
    /failed to connect|could not connect|connection refused|couldn't connect/i,
    "the git host cannot be reached",
  ],
  [/SSL|TLS|certificate/, "the connection to the git host is not secure"],
  [/timed out|operation too slow/i, "the git host did not answer in time"],
  [/requested URL returned error: 429/i, "the git host limits requests now"],
  [/requested URL returned error: 5\d\d/i, "the git host failed"],
  [
    /disconnect|hung up|RPC failed|empty reply|early EOF|recv failure/i,
    "the git host broke off the connection",
  ],
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
  const nothing = `There is no repository ${repository} that this server may read`;
  if (NOT_READABLE.some((pattern) => pattern.test(error.message))) {
    return notReadable(`${nothing}.`, error);
  }
  if (WANTS_KEY.test(error.message)) {
    return notReadable(`${nothing}: the git host asks for a key that it accepts.`, error);
  }
  if (FORBIDDEN.test(error.message)) {
    return notReadable(`The git host does not let this server read ${repository}.`, error);
  }
  const [, why] = NETWORK.find(([pattern]) => pattern.test(error.message)) ?? [];
  const message = `The repository ${repository} could not be fetched${why === undefined ? "" : `: ${why}`}.`;
  return new AppError("resource_unavailable", message, { cause: error });
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

function notReadable(message: string, cause: unknown): AppError {
  return new AppError("resource_not_found", message, {
    cause,
    remedy:
      "Check its present name. A private one must be opened to this server's own app, in an installation of your team, or to the token in the team secret GITHUB_TOKEN.",
  });
}

function withoutCommit(repository: string, cause: unknown): AppError {
  return new AppError("resource_not_found", `The repository ${repository} no longer has the commit.`, {
    cause,
  });
}

/** Why a repository is not in the workspace of its run. Only a temporary failure is retryable. */
export function cloneError(repository: string, error: unknown): unknown {
  if (!(error instanceof GitFailure)) {
    return error;
  }
  const { message, options, retryable } = cloneFailureOf(repository, error);
  return new AppError("environment_setup_failed", message, { ...options, cause: error, retryable });
}

function cloneFailureOf(repository: string, error: GitFailure): AppError {
  switch (error.kind) {
    case "missing":
      return unclonable(repository, "there is no git on this worker", "Install git where Errand runs.");
    case "too-large":
      return unclonable(repository, "it is too large, also without its history");
    case "aborted":
      return new AppError("resource_unavailable", `The repository ${repository} was not cloned in time.`);
    case "failed":
      return fetchError(repository, error);
    default:
      return error.kind satisfies never;
  }
}

export function unclonable(repository: string, why: string, remedy?: string): AppError {
  const message = `The repository ${repository} cannot be cloned: ${why}.`;
  const help = remedy === undefined ? {} : { remedy };
  return new AppError("environment_setup_failed", message, { retryable: false, ...help });
}
