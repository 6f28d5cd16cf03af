import type { GatewayGrant, RepositoryGrant } from "../agents/gateway.ts";
import type { Environment } from "../environments/environment.ts";
import { AppError } from "../errors.ts";
import { ownPrefixesOf } from "../pull-requests/branch-name.ts";
import {
  isSameRepository,
  parseRepositoryName,
  type RepositoryName,
} from "../repositories/repository-name.ts";
import { type RunRepository, runRepositoryOf } from "../repositories/run-repository.ts";
import type { ExecutedConfig } from "../runs/executed-config.ts";
import { type HomeRepository, homeRepositoryOf, isPatchOnly } from "../runs/home-repository.ts";
import type { Run } from "../runs/run.ts";
import { teamAccessOf } from "../secrets/git-token.ts";
import type { Storage } from "../storage.ts";
import type { PlannedRepository, WorkspacePlan } from "./workspace.ts";

/** The environment that the run names: as it was approved, otherwise in its current version. */
export async function findEnvironment(
  { environments }: Pick<Storage, "environments">,
  { config, executes, teamId }: Pick<Run, "config" | "executes" | "teamId">,
): Promise<Environment | undefined> {
  const id = config.environment_id;
  if (id === undefined) {
    return undefined;
  }
  const environment = await environments.find(teamId, id);
  if (environment !== undefined) {
    return executes === undefined ? environment : approvedEnvironment(environment, executes);
  }
  throw new AppError("resource_not_found", "The environment of this run was deleted.", {
    remedy: "Start a new run in another environment.",
  });
}

function approvedEnvironment(
  environment: Environment,
  { image, network, repositories, setupCommands }: ExecutedConfig,
): Environment {
  const { image: _today, ...config } = environment.config;
  const names = repositories.flatMap(({ repository }) => parseRepositoryName(repository) ?? []);
  const copied = { repositories: names, setupCommands, network };
  return {
    ...environment,
    config: { ...config, ...copied, ...(image === undefined ? {} : { image }) },
  };
}

/**
 * The repositories of the environment, and the one that the configuration names. A run without an environment also
 * works in the repository that it was asked for in, if there is one.
 */
export function planOf(
  run: Pick<Run, "config" | "provenance">,
  environment: Environment | undefined,
): WorkspacePlan {
  const home = homeRepositoryOf(run);
  const own = runRepositoryOf(run.config);
  const base =
    environment === undefined ? (home === undefined ? [] : [home]) : environment.config.repositories;
  const isAdded = own !== undefined && !base.some((each) => isSameRepository(each, own));
  const { image, setupCommands = [] } = environment?.config ?? {};
  return {
    repositories: [...base, ...(isAdded ? [own] : [])].map((each) => planned(each, own, home)),
    setupCommands,
    ...(image === undefined ? {} : { image }),
  };
}

/** What the request names has priority over the branch of the pull request in which it was made. */
function planned(
  { owner, name }: RepositoryName,
  own: RunRepository | undefined,
  home: HomeRepository | undefined,
): PlannedRepository {
  const isSame = (one: RepositoryName | undefined) =>
    one !== undefined && isSameRepository(one, { owner, name });
  const named = isSame(own) ? own?.ref : undefined;
  const fork = named === undefined && isSame(home) ? home?.fork : undefined;
  const ref = named ?? fork?.commit ?? (isSame(home) ? home?.branch : undefined);
  return { owner, name, ...(ref === undefined ? {} : { ref }), ...(fork && { isUntrusted: true }) };
}

/**
 * What the processes of an attempt may reach. The repositories of skills may only be read, unless they are also
 * repositories of the workspace.
 */
export function grantOf(
  run: Pick<
    Run,
    "config" | "id" | "teamId" | "secretNames" | "provenance" | "skillSnapshot" | "skillSnapshots"
  >,
  plan: WorkspacePlan,
  more: Pick<GatewayGrant, "network" | "mcpServers">,
): GatewayGrant {
  const home = homeRepositoryOf(run);
  const push = !isPatchOnly(run);
  // Programs of a fork run in the workspace, so nothing reaches a branch that people or other runs work on.
  const limits = push && home?.fork !== undefined ? { branchPrefixes: ownPrefixesOf(run) } : {};
  const worked = [...plan.repositories, ...(home === undefined ? [] : [home])];
  const { skillSnapshot: task, skillSnapshots = [] } = run;
  const skills = [...(task === undefined ? [] : [task]), ...skillSnapshots];
  const grants: RepositoryGrant[] = [
    ...worked.map(({ owner, name }) => ({ owner, name, push, ...limits })),
    ...skills.map(({ repository: { name, owner } }) => ({ owner, name, push: false })),
  ];
  const repositories = grants.filter(
    (grant, index) => grants.findIndex((each) => isSameRepository(each, grant)) === index,
  );
  const limitsCost = run.config.budget?.max_cost_usd !== undefined;
  return {
    ...{ runId: run.id, ...teamAccessOf(run), repositories, ...more },
    ...(limitsCost ? { limitsCost } : {}),
  };
}
