import { isTeamOwned, type Owned } from "../people/ownership.ts";
import type { TeamAccess } from "../repositories/repository-name.ts";
import type { Run } from "../runs/run.ts";
import type { RecordStore } from "../team-records/record-store.ts";
import { openSecret } from "./open-secret.ts";
import type { Secret } from "./secret.ts";
import type { SecretBox } from "./secret-box.ts";

/**
 * The team secret with which repositories are read and written where no installation of the team may. Only this
 * process and the gateway use it: it never becomes an environment variable of a run.
 */
export const GIT_TOKEN = "GITHUB_TOKEN";

/** The token of a team; undefined if it has none, or must not use it. */
export type FindGitToken = (access: TeamAccess) => Promise<string | undefined>;

export function createGitTokens(
  secrets: Pick<RecordStore<Secret>, "list">,
  box: Pick<SecretBox, "open">,
): FindGitToken {
  return async ({ teamId, withoutTeamToken }) => {
    if (withoutTeamToken === true) {
      return undefined;
    }
    const secret = (await secrets.list(teamId)).find(isGitToken);
    return secret && openSecret(box, secret);
  };
}

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
