import type { InstallationStore } from "../core/people/people-stores.ts";
import type { OpenRepository } from "../core/repositories/repository-access.ts";
import type { TeamRepository } from "../core/repositories/repository-name.ts";

/** The value of the header `Authorization` for a team; undefined: none. */
export type TeamAuthorizer = (
  repository: TeamRepository,
  url: string,
  access?: "read" | "write",
) => Promise<string | undefined>;

/**
 * Uses the key of an installation only for the team of that installation. Any other team reads the repository
 * anonymously. `openers` are the functions of the adapters, by adapter name.
 */
export function createTeamAuthorizer(
  openers: ReadonlyMap<string, OpenRepository>,
  installations: Pick<InstallationStore, "ensure">,
): TeamAuthorizer {
  return async ({ teamId }, url, access = "read") => {
    for (const [adapter, open] of openers) {
      const opened = await open(url);
      if (opened === undefined) {
        continue;
      }
      const installation = await installations.ensure(adapter, opened.installation);
      if (installation.enabled && installation.teamId === teamId) {
        return opened.authorization(access);
      }
    }
    return undefined;
  };
}
