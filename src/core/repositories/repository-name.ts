import type { TeamId } from "../ids.ts";

/** A repository by owner and name. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** A repository and the team that reads it. Another team may not see what this team can read. */
export interface TeamRepository extends RepositoryName {
  readonly teamId: TeamId;
}

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
