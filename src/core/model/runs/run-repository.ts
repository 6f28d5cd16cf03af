import { defined } from "../../basics/defined.ts";
import { invalidMember } from "../../basics/errors.ts";
import {
  isCommitId,
  isRefName,
  parseRepositoryName,
  type RepositoryName,
} from "../repositories/repository-name.ts";
import type { RunConfig } from "./run.ts";

/** The repository that the configuration of a run names. */
export interface RunRepository extends RepositoryName {
  /** A branch, tag or commit. */
  readonly ref?: string;
  /** As in `PlannedRepository`. */
  readonly isGuessed?: true;
}

/** Undefined: the configuration names no repository. */
export function runRepositoryOf(config: RunConfig): RunRepository | undefined {
  const { ref, repository, repository_guessed: guessed } = config;
  const name = repository === undefined ? undefined : parseRepositoryName(repository);
  return (
    name && {
      ...name,
      ...defined({ ref, isGuessed: guessed === true ? true : undefined }),
    }
  );
}

/**
 * Rejects a repository that cannot be cloned, and members that have no effect without a repository. `member` is the
 * caller's name for the configuration. A run that was requested in a repository opens its pull request there.
 */
export function requireRunRepository(config: RunConfig, member: string, home?: RepositoryName): void {
  const { pull_request, ref, repository } = config;
  if (repository === undefined) {
    const needing = home === undefined ? { ref, pull_request } : { ref };
    const alone = Object.entries(needing).find(([, value]) => value !== undefined);
    if (alone !== undefined) {
      throw invalidMember(`${member}.${alone[0]}`, "needs a repository");
    }
    return;
  }
  if (parseRepositoryName(repository) === undefined) {
    throw invalidMember(`${member}.repository`, "must be owner/name");
  }
  if (ref !== undefined && !isCommitId(ref) && !isRefName(ref)) {
    throw invalidMember(`${member}.ref`, "must be the name of a branch or tag, or the full id of a commit");
  }
}
