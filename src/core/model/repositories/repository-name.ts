import type { TeamId } from "../../basics/ids.ts";

/** A repository by owner and name. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** The credentials with which repositories are read and written: those of the team, or a part of them. */
export interface TeamAccess {
  readonly teamId: TeamId;
  /** True if the team's token must not be used, because the secrets of the run's agent leave it out. */
  readonly withoutTeamToken?: boolean;
}

/** A repository and the access with which it is read. With another access, other repositories can be read. */
export interface TeamRepository extends RepositoryName, TeamAccess {}

/** `owner/repo`, or undefined. */
export function parseRepositoryName(text: string): RepositoryName | undefined {
  const [owner = "", name = "", ...rest] = text.split("/");
  return rest.length === 0 && isAllowedName(owner) && isAllowedName(name) ? { owner, name } : undefined;
}

const NAME = /^[A-Za-z\d._-]{1,100}$/;

/**
 * The characters that hosts allow in the names of owners and repositories. Excludes path traversal and command
 * options.
 */
export function isAllowedName(text: string): boolean {
  return NAME.test(text) && !text.startsWith("-") && !text.includes("..") && text !== ".";
}

/** Hosts do not distinguish upper from lower case. */
export function isSameRepository(left: RepositoryName, right: RepositoryName): boolean {
  return isSameName(left.owner, right.owner) && isSameName(left.name, right.name);
}

export function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
