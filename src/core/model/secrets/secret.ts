import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import { isTeamOwned, type Owned } from "../people/ownership.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { TeamAccess } from "../repositories/repository-name.ts";
import type { Run } from "../runs/run.ts";

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

/** The value of a secret. Fails with `environment_setup_failed` when it was sealed with an unknown key. */
export function openSecret(box: Pick<SecretBox, "open">, secret: Secret): string {
  try {
    return box.open(secret.sealed, sealOwner(secret));
  } catch (cause) {
    throw new AppError("environment_setup_failed", `The secret ${secret.name} cannot be opened.`, {
      cause,
      remedy: "Set it anew: it was sealed with another secret key, or its row was changed.",
    });
  }
}

/**
 * The team secret with which repositories are read and written where no installation of the team may. Only this
 * process and the gateway use it: it never becomes an environment variable of a run.
 */
export const GIT_TOKEN = "GITHUB_TOKEN";

/** The access of a run to repositories. */
export function teamAccessOf({
  teamId,
  secretNames,
}: Pick<Run, "teamId"> & { readonly secretNames?: Run["secretNames"] | undefined }): TeamAccess {
  const isLimited = secretNames !== undefined && !secretNames.includes(GIT_TOKEN);
  return isLimited ? { teamId, withoutTeamToken: true } : { teamId };
}

export function isGitToken(secret: Owned & Pick<Secret, "name">): boolean {
  return isTeamOwned(secret) && secret.name === GIT_TOKEN;
}
