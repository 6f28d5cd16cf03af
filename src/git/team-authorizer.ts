import type { InstallationStore } from "../core/people/people-stores.ts";
import type { OpenRepository } from "../core/repositories/repository-access.ts";
import type { TeamRepository } from "../core/repositories/repository-name.ts";
import type { FindGitToken } from "../core/secrets/git-token.ts";

/** The value of the header `Authorization` for a team; undefined: none. */
export type TeamAuthorizer = (
  repository: TeamRepository,
  url: string,
  access?: "read" | "write",
) => Promise<string | undefined>;

export interface TeamAuthorizerDeps {
  /** The functions of the adapters, by adapter name. */
  readonly openers: ReadonlyMap<string, OpenRepository>;
  readonly installations: Pick<InstallationStore, "ensure">;
  readonly findToken: FindGitToken;
}

/**
 * Uses the key of an installation only for the team of that installation. Without one, the team's own token is used.
 * A team without either reads the repository anonymously.
 */
export function createTeamAuthorizer(deps: TeamAuthorizerDeps): TeamAuthorizer {
  return async (repository, url, access = "read") => {
    const { findToken, installations, openers } = deps;
    for (const [adapter, open] of openers) {
      const opened = await open(url);
      if (opened === undefined) {
        continue;
      }
      const installation = await installations.ensure(adapter, opened.installation);
      const key =
        installation.enabled && installation.teamId === repository.teamId
          ? await opened.authorization(access)
          : undefined;
      if (key !== undefined) {
        return key;
      }
    }
    const token = await findToken(repository);
    return token && basicAuthorization(token);
  };
}

/** The form in which hosts accept a token from git. They ignore the user name. */
function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
}
