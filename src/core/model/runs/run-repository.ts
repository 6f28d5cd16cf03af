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
 * Rejects a repository that cannot be cloned and a `ref` that cannot be checked out. `member` is the caller's name for
 * the configuration.
 */
export function requireRunRepository({ ref, repository }: RunConfig, member: string): void {
  if (repository !== undefined && parseRepositoryName(repository) === undefined) {
    throw invalidMember(`${member}.repository`, "must be owner/name");
  }
  if (ref !== undefined && !isCommitId(ref) && !isRefName(ref)) {
    throw invalidMember(`${member}.ref`, "must be the name of a branch or tag, or the full id of a commit");
  }
}

/** Where a run works besides the repository that its configuration names. */
export interface RunPlaces {
  /** The repository in which the run was requested. */
  readonly home?: RepositoryName | undefined;
  readonly environment: readonly RepositoryName[];
}

/**
 * Why a member of the configuration has no effect. Without `repository`, `ref` counts for the repository of the
 * environment if it has exactly one, and `pull_request` for each of them or for the one in which the run was requested.
 */
export function uselessMembers(
  { pull_request, ref, repository }: RunConfig,
  { environment, home }: RunPlaces,
): Partial<Record<"ref" | "pull_request", string>> {
  if (repository !== undefined) {
    return {};
  }
  const needs = "needs a repository";
  const names = environment.map(({ name, owner }) => `${owner}/${name}`).join(", ");
  const ofRef =
    environment.length === 0
      ? needs
      : `${needs}, because the environment has several: set it to one of ${names}`;
  return defined({
    ref: ref === undefined || environment.length === 1 ? undefined : ofRef,
    pull_request: pull_request === undefined || home || environment.length > 0 ? undefined : needs,
  });
}
