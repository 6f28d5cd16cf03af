import type { SecretBox } from "../../basics/crypto.ts";
import type { TeamAccess } from "../../model/repositories/repository-name.ts";
import { isGitToken } from "../../model/secrets/git-token.ts";
import { openSecret } from "../../model/secrets/open-secret.ts";
import type { Secret } from "../../model/secrets/secret.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";

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
