import { isTeamOwned, type Owned } from "../people/ownership.ts";
import type { TeamAccess } from "../repositories/repository-name.ts";
import type { Run } from "../runs/run.ts";
import type { Secret } from "./secret.ts";

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
