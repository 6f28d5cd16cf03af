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

export function isAmong(repositories: readonly RepositoryName[], wanted: RepositoryName): boolean {
  return repositories.some((each) => isSameRepository(each, wanted));
}

export function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/** The longest that git hosts take. */
const LENGTH_MAX = 250;
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
/** What git forbids in `refs/heads/NAME`: https://git-scm.com/docs/git-check-ref-format. */
const NOT_IN_NAMES = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|(^|\/)(\.|\/|$)|\.lock(\/|$)|\.$/;

/** Whether it can be the name of a branch or tag. Git would read a leading dash as an option. */
export function isRefName(name: string): boolean {
  const isLegal = name.isWellFormed() && !NOT_IN_NAMES.test(name);
  return isLegal && name !== "" && name.length <= LENGTH_MAX && !name.startsWith("-");
}

export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

/** What a git host answers to the first request of a clone, a fetch or a push. */
interface FirstAnswer {
  readonly status: number;
  readonly location: string | undefined;
}

/**
 * The address to which the git host redirects after a rename or a transfer of the repository at `url`. Undefined: there
 * is none, or it is not beside the other repositories of this host, which alone get its keys.
 */
export function presentAddressOf(url: string, { location, status }: FirstAnswer): string | undefined {
  const isRedirect = status >= 300 && status < 400 && location !== undefined;
  const target = isRedirect ? URL.parse(location, url)?.href : undefined;
  // The address without owner and name.
  const root = new URL("../", url).href;
  if (target?.startsWith(root) !== true) {
    return undefined;
  }
  const [, name = ""] = /^(.+)\.git\/info\/refs(?:\?|$)/.exec(target.slice(root.length)) ?? [];
  return parseRepositoryName(name) === undefined ? undefined : `${root}${name}.git`;
}
