import type { InstallationStore } from "../core/people/people-stores.ts";
import type {
  OpenPullRequests,
  PullRequestAccess,
  PullRequests,
} from "../core/pull-requests/pull-requests.ts";
import type { TeamRepository } from "../core/repositories/repository-name.ts";

/**
 * Opens pull requests with the key of an installation, only for the team of that installation. `openers` are the
 * functions of the adapters, by adapter name.
 */
export function createTeamPullRequests(
  openers: ReadonlyMap<string, OpenPullRequests>,
  installations: Pick<InstallationStore, "ensure">,
): PullRequests {
  const accessOf = async ({
    teamId,
    ...repository
  }: TeamRepository): Promise<PullRequestAccess | undefined> => {
    for (const [adapter, open] of openers) {
      const access = await open(repository);
      if (access === undefined) {
        continue;
      }
      const installation = await installations.ensure(adapter, access.installation);
      if (installation.enabled && installation.teamId === teamId) {
        return access;
      }
    }
    return undefined;
  };
  return {
    open: async ({ repository: { name, owner }, teamId, ...draft }) =>
      (await accessOf({ owner, name, teamId }))?.open(draft),
    find: async (teamId, { name, owner }, branch) => (await accessOf({ owner, name, teamId }))?.find(branch),
  };
}
