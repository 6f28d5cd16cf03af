import type { InstallationStore } from "../core/ports/people.ts";
import type { OpenRepository } from "../core/ports/repository-access.ts";
import type { MirrorOptions } from "./mirror-options.ts";

/**
 * A repository is opened with the key of an installation for the installation's own team alone: whoever else names it
 * reads it as everybody may, or not at all. `openers` are the adapters' by their names.
 */
export function createTeamAuthorizer(
  openers: ReadonlyMap<string, OpenRepository>,
  installations: Pick<InstallationStore, "ensure">,
): MirrorOptions["authorize"] {
  return async ({ teamId }, url) => {
    for (const [adapter, open] of openers) {
      const access = await open(url);
      if (access === undefined) continue;
      const installation = await installations.ensure(adapter, access.installation);
      if (installation.enabled && installation.teamId === teamId) return access.authorization();
    }
    return undefined;
  };
}
