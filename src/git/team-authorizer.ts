import type { TeamRepository } from "../core/model/repositories/repository-name.ts";
import type { Committer, OpenRepository, RepositoryAccess } from "../core/ports/repository-access.ts";
import type { InstallationStore } from "../core/ports/stores/people-stores.ts";
import type { FindGitToken } from "../core/team/records/secret-service.ts";

/** The value of the header `Authorization` for a team; undefined: none. */
export type TeamAuthorizer = (
  repository: TeamRepository,
  url: string,
  access?: "read" | "write",
) => Promise<string | undefined>;

/** Who makes commits for a team there; undefined: nobody that the host knows. */
export type TeamCommitter = (repository: TeamRepository, url: string) => Promise<Committer | undefined>;

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
    for await (const opened of openedFor(repository, url, deps)) {
      const key = await opened.authorization(access);
      if (key !== undefined) {
        return key;
      }
    }
    const token = await deps.findToken(repository);
    return token && basicAuthorization(token);
  };
}

/** Uses the account of an installation only for the team of that installation. */
export function createTeamCommitter(deps: Omit<TeamAuthorizerDeps, "findToken">): TeamCommitter {
  return async (repository, url) => {
    for await (const opened of openedFor(repository, url, deps)) {
      if (opened.committer !== undefined) {
        return opened.committer();
      }
    }
    return undefined;
  };
}

/** What the team's installations may access at this address. */
async function* openedFor(
  { teamId }: TeamRepository,
  url: string,
  { installations, openers }: Omit<TeamAuthorizerDeps, "findToken">,
): AsyncGenerator<RepositoryAccess> {
  for (const [adapter, open] of openers) {
    const opened = await open(url);
    const installation = opened && (await installations.ensure(adapter, opened.installation));
    if (opened !== undefined && installation?.enabled === true && installation.teamId === teamId) {
      yield opened;
    }
  }
}

/** The form in which hosts accept a token from git. They ignore the user name. */
function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
}
