import { AppError } from "../core/basics/errors.ts";
import { GitFailure } from "./git-command.ts";
import { fetchError } from "./git-error.ts";

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
