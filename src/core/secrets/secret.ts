import type { PrincipalId } from "../ids.ts";
import type { Owned } from "../people/ownership.ts";
import type { TeamRecord } from "../records/record-store.ts";

/** A value that becomes an environment variable of runs. It is never read back by anybody but the worker of a run. */
export interface Secret extends TeamRecord, Owned {
  /** Of the variable. An owner has one of each name. */
  readonly name: string;
  readonly sealed: string;
  readonly editorId: PrincipalId;
}

/** What a sealed value belongs to: put in the place of another secret's, it does not open. */
export function sealOwner({ teamId, ownerId, name }: Pick<Secret, "teamId" | "ownerId" | "name">): string {
  return `secret:${teamId}:${ownerId}:${name}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Variables that the platform sets itself, and those by which a shell, the dynamic linker, git or a language's runtime
 * is made to load something: whoever may set a secret must not thereby change which program an agent is.
 */
const RESERVED = [
  /^(PATH|HOME|LANG|TERM|SHELL|USER|LOGNAME|PWD|OLDPWD|TMPDIR|IFS|ENV|CDPATH|PS4|PROMPT_COMMAND)$/,
  /^(BASH_|SHELLOPTS$|BASHOPTS$|LC_|LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|ERRAND_|GIT_)/,
  /^(NODE_|PYTHON(PATH|HOME|STARTUP)$|PERL5(LIB|OPT)$|RUBY(LIB|OPT)$|JAVA_TOOL_OPTIONS$|_JAVA_OPTIONS$)/,
] as const;

/** What speaks against a name, as a clause after it. */
export function problemOfName(name: string): string | undefined {
  if (!NAME.test(name)) return "must be 1 to 128 letters, digits and _, and not begin with a digit";
  if (RESERVED.some((pattern) => pattern.test(name.toUpperCase())))
    return "is a name that the platform keeps for itself";
  return undefined;
}
