import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import {
  isSameRepository,
  parseRepositoryName,
  type RepositoryName,
} from "../../model/repositories/repository-name.ts";
import type { ExecutedConfig } from "../../model/runs/executed-config.ts";
import { type HomeRepository, homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run, RunConfig } from "../../model/runs/run.ts";
import { type RunRepository, runRepositoryOf } from "../../model/runs/run-repository.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { PlannedRepository, WorkspacePlan } from "../../model/workspaces/workspace.ts";
import type { Storage } from "../../ports/stores/storage.ts";

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
  { image, network, repositories, setupCommands, sparse }: ExecutedConfig,
): Environment {
  const { image: _image, sparse: _sparse, ...config } = environment.config;
  const names = repositories.flatMap(({ repository }) => parseRepositoryName(repository) ?? []);
  const copied = { repositories: names, setupCommands, network };
  return {
    ...environment,
    config: { ...config, ...copied, ...defined({ image, sparse }) },
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
  const base =
    environment === undefined ? (home === undefined ? [] : [home]) : environment.config.repositories;
  const own = runRepositoryOf(run.config) ?? onlyRepositoryOf(run.config, environment);
  const isAdded = own !== undefined && !base.some((each) => isSameRepository(each, own));
  const { image, setupCommands = [], sparse } = environment?.config ?? {};
  return {
    repositories: [
      ...base.map((each) => planned(each, own, home)),
      // What the environment or the request itself names as well is no guess.
      ...(isAdded
        ? [
            {
              ...planned(own, own, home),
              ...defined({ isGuessed: own.isGuessed }),
            },
          ]
        : []),
    ],
    setupCommands,
    ...defined({ image, sparse }),
  };
}

/** The only repository of the environment, with the `ref` of a configuration that names no other. */
function onlyRepositoryOf(
  { ref }: RunConfig,
  environment: Environment | undefined,
): RunRepository | undefined {
  const [only, ...more] = environment?.config.repositories ?? [];
  return only === undefined || more.length > 0 ? undefined : { ...only, ...defined({ ref }) };
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
  return defined({ owner, name, ref, isUntrusted: fork ? true : undefined });
}
