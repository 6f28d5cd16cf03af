import type { TeamId } from "../ids.ts";
import { isTeamOwned, type Owned } from "../people/ownership.ts";
import type { RecordStore } from "../records/record-store.ts";
import { openSecret } from "./open-secret.ts";
import type { Secret } from "./secret.ts";
import type { SecretBox } from "./secret-box.ts";

/**
 * The team secret with which repositories are read and written where no installation of the team may. Only this
 * process and the gateway use it: it never becomes an environment variable of a run.
 */
export const GIT_TOKEN = "GITHUB_TOKEN";

/** The token of a team; undefined if it has none. */
export type FindGitToken = (teamId: TeamId) => Promise<string | undefined>;

export function createGitTokens(
  secrets: Pick<RecordStore<Secret>, "list">,
  box: Pick<SecretBox, "open">,
): FindGitToken {
  return async (teamId) => {
    const secret = (await secrets.list(teamId)).find(isGitToken);
    return secret && openSecret(box, secret);
  };
}

export function isGitToken(secret: Owned & Pick<Secret, "name">): boolean {
  return isTeamOwned(secret) && secret.name === GIT_TOKEN;
}
