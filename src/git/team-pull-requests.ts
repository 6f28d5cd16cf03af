import type { RepositoryName, TeamAccess } from "../core/model/repositories/repository-name.ts";
import type {
  OpenPullRequests,
  OpenPullRequestsWithToken,
  PullRequestAccess,
  PullRequests,
} from "../core/ports/pull-requests.ts";
import type { InstallationStore } from "../core/ports/stores/people-stores.ts";
import type { FindGitToken } from "../core/team/records/secret-service.ts";

export interface TeamPullRequestsDeps {
  /** The functions of the adapters, by adapter name. */
  readonly openers: ReadonlyMap<string, OpenPullRequests>;
  readonly installations: Pick<InstallationStore, "ensure">;
  readonly findToken: FindGitToken;
  readonly openWithToken: OpenPullRequestsWithToken;
}

/**
 * Opens pull requests with the key of an installation, only for the team of that installation. Without one, the
 * team's own token is used.
 */
export function createTeamPullRequests(deps: TeamPullRequestsDeps): PullRequests {
  const accessOf = async (
    team: TeamAccess,
    { owner, name }: RepositoryName,
  ): Promise<Omit<PullRequestAccess, "installation"> | undefined> => {
    const repository = { owner, name };
    const { findToken, installations, openers, openWithToken } = deps;
    for (const [adapter, open] of openers) {
      const access = await open(repository);
      if (access === undefined) {
        continue;
      }
      const installation = await installations.ensure(adapter, access.installation);
      if (installation.enabled && installation.teamId === team.teamId) {
        return access;
      }
    }
    const token = await findToken(team);
    return token === undefined ? undefined : openWithToken(repository, token);
  };
  return {
    isAllowed: async (repository) => (await accessOf(repository, repository)) !== undefined,
    open: async ({ teamId, withoutTeamToken = false, repository, ...draft }) =>
      (await accessOf({ teamId, withoutTeamToken }, repository))?.open(draft),
    update: async ({ teamId, withoutTeamToken = false, repository, ...draft }) =>
      (await accessOf({ teamId, withoutTeamToken }, repository))?.update(draft),
    find: async (access, repository, branch) => (await accessOf(access, repository))?.find(branch),
    takesSuggestions: async (access, repository, work) =>
      (await accessOf(access, repository))?.takesSuggestions(work) ?? false,
    settings: async (access, repository) => (await accessOf(access, repository))?.settings(),
    makeCommit: async (access, repository, commit) =>
      (await accessOf(access, repository))?.makeCommit(commit),
    read: async (team, url) => {
      const { number, repository } = parsePullRequestUrl(url) ?? {};
      const access = repository && (await accessOf(team, repository));
      return number === undefined ? undefined : access?.read(number);
    },
  };
}

/** An address such as `https://git.example/owner/name/pull/7`. */
function parsePullRequestUrl(
  url: string,
): { readonly repository: RepositoryName; readonly number: number } | undefined {
  const [, owner, name, number] = /\/([^/]+)\/([^/]+)\/pull\/(\d+)$/.exec(url) ?? [];
  return owner === undefined || name === undefined
    ? undefined
    : { repository: { owner, name }, number: Number(number) };
}
