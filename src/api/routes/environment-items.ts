import type { Environment } from "../../core/environments/environment.ts";
import type { PrincipalId } from "../../core/ids.ts";
import { isTeamOwned } from "../../core/people/ownership.ts";
import type { Principal, Viewer } from "../../core/people/principal.ts";
import type { Storage } from "../../core/storage.ts";
import type { LastRuns } from "../../core/usage/run-reports.ts";
import { type EnvironmentItem, environmentConfigJson } from "../schemas/environment.ts";
import { creatorInfo } from "../schemas/run-item.ts";

type Sources = Pick<Storage, "people" | "reports">;

/** Environments as `viewer` may see them, with what was last done in each. */
export async function environmentItems(
  { people, reports }: Sources,
  viewer: Viewer,
  environments: readonly Environment[],
): Promise<EnvironmentItem[]> {
  if (environments.length === 0) return [];
  const ids = new Set(environments.flatMap(({ creatorId, lastEditorId }) => [creatorId, lastEditorId]));
  // One after the other: within a transaction there is one connection.
  const found = await people.getMany([...ids]);
  const uids = environments.map(({ id }) => id);
  const lastRuns = await reports.lastRuns(viewer, uids);
  const principals = new Map(found.map((principal) => [principal.id, principal]));
  return environments.map((environment) => itemOf(environment, principals, lastRuns.get(environment.id)));
}

export async function environmentItem(
  sources: Sources,
  viewer: Viewer,
  environment: Environment,
): Promise<EnvironmentItem> {
  const [item] = await environmentItems(sources, viewer, [environment]);
  if (item === undefined) throw new Error("One environment has one item.");
  return item;
}

function itemOf(
  environment: Environment,
  principals: ReadonlyMap<PrincipalId, Principal>,
  last: LastRuns | undefined,
): EnvironmentItem {
  const { config, creatorId, id, lastEditorId, ownerId, setupFailed, updatedAt } = environment;
  return {
    uid: id,
    config: environmentConfigJson(config),
    last_updated: updatedAt.toISOString(),
    setup_failed: setupFailed,
    scope: isTeamOwned(environment) ? { type: "Team" } : { type: "User", uid: ownerId },
    creator: creatorInfo(creatorId, principals.get(creatorId)),
    last_editor: creatorInfo(lastEditorId, principals.get(lastEditorId)),
    ...(last === undefined ? {} : lastTaskOf(last)),
  };
}

function lastTaskOf({ created, startedAt }: LastRuns): Partial<EnvironmentItem> {
  const { createdAt, id, prompt, state, title, updatedAt } = created;
  return {
    ...(startedAt === undefined ? {} : { last_task_run_timestamp: startedAt.toISOString() }),
    last_task_created: {
      ...{ id, title, prompt, state },
      created_at: createdAt.toISOString(),
      updated_at: updatedAt.toISOString(),
      ...(created.startedAt === undefined ? {} : { started_at: created.startedAt.toISOString() }),
    },
  };
}
