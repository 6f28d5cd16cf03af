import type { PrincipalId } from "../../basics/ids.ts";
import type { Owned } from "../people/ownership.ts";
import type { TeamRecord } from "../people/team-record.ts";

/** A value that becomes an environment variable of runs. Only the worker of a run can read it. */
export interface Secret extends TeamRecord, Owned {
  /** The name of the variable, unique for its owner. */
  readonly name: string;
  readonly sealed: string;
  readonly editorId: PrincipalId;
}

/**
 * What the secrets of a team, and those of one person, may have together, in bytes of names and values. A run gets both
 * as its environment, which the operating system limits.
 */
export const TEAM_SECRETS_BYTES_MAX = 768 * 2 ** 10;
export const PERSONAL_SECRETS_BYTES_MAX = 256 * 2 ** 10;

/** What a sealed value is bound to. In the row of another secret it cannot be opened. */
export function sealOwner({ teamId, ownerId, name }: Pick<Secret, "teamId" | "ownerId" | "name">): string {
  return `secret:${teamId}:${ownerId}:${name}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Variables that Errand sets, and those that make a shell, the dynamic linker, git or a language runtime load
 * something. Otherwise the author of a secret could change which program an agent is.
 */
const RESERVED = [
  /^(PATH|HOME|LANG|TERM|SHELL|USER|LOGNAME|PWD|OLDPWD|TMPDIR|IFS|ENV|CDPATH|PS4|PROMPT_COMMAND)$/,
  /^(BASH_|SHELLOPTS$|BASHOPTS$|LC_|LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|ERRAND_|GIT_)/,
  /^(NODE_|PYTHON(PATH|HOME|STARTUP)$|PERL5(LIB|OPT)$|RUBY(LIB|OPT)$|JAVA_TOOL_OPTIONS$|_JAVA_OPTIONS$)/,
] as const;

/** What is wrong with a name, as a clause after the name. */
export function problemOfName(name: string): string | undefined {
  if (!NAME.test(name)) {
    return "must be 1 to 128 letters, digits and _, and not begin with a digit";
  }
  if (RESERVED.some((pattern) => pattern.test(name.toUpperCase()))) {
    return "is a name that the platform keeps for itself";
  }
  return undefined;
}
