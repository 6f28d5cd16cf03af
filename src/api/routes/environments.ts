import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import { isTeamOwned } from "../../core/model/people/ownership.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import type { Environment } from "../../core/model/workspaces/environment.ts";
import type { LastRuns } from "../../core/ports/stores/run-query.ts";
import { EnvironmentService } from "../../core/team/records/environment-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { except } from "../http/entity-tags.ts";
import {
  CreateEnvironmentRequest,
  EnvironmentItem,
  environmentConfigJson,
  environmentConfigOf,
  ListEnvironmentsQuery,
  ListEnvironmentsResponse,
  ReplaceEnvironmentRequest,
} from "../schemas/environment.ts";
import { creatorInfo } from "../schemas/run-creator.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ItemContext, textId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

export function environmentRoutes(
  { clock, imageRegistries, storage }: Pick<ApiDeps, "clock" | "imageRegistries" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return resourceRoutes(storage, idempotency, {
    path: "/agent/environments",
    tags: ["environments"],
    scopes: { read: "runs:read", write: "settings:write" },
    id: textId("uid", "An environment's uid."),
    serviceOn: (stores) => new EnvironmentService({ storage: stores, clock, imageRegistries }),
    item: EnvironmentItem,
    items: environmentItems,
    edited: except("creator", "last_editor", "last_task_created", "last_task_run_timestamp", "setup_failed"),
    list: {
      operationId: "listEnvironments",
      summary: "List environments",
      querystring: ListEnvironmentsQuery,
      member: "environments",
      response: ListEnvironmentsResponse,
      run: (environments, viewer, { sort_by }) => environments.list(viewer, sort_by),
    },
    get: {
      operationId: "getEnvironment",
      summary: "Get an environment",
      run: (environments, viewer, uid) => environments.get(viewer, uid),
    },
    create: {
      operationId: "createEnvironment",
      summary: "Create an environment",
      body: CreateEnvironmentRequest,
      run: (environments, viewer, { config, team = true }) =>
        environments.create(viewer, environmentConfigOf(config), team),
    },
    replace: {
      operationId: "replaceEnvironment",
      summary: "Replace an environment",
      description: "Runs that have started keep the previous configuration.",
      body: ReplaceEnvironmentRequest,
      run: (environments, viewer, uid, { config }) =>
        environments.replace(viewer, uid, environmentConfigOf(config)),
    },
    remove: {
      operationId: "deleteEnvironment",
      summary: "Delete an environment",
      description: "Runs keep the uid. New runs and schedules that name it are refused.",
      run: (environments, viewer, uid) => environments.remove(viewer, uid),
    },
  });
}

/** Adds the last runs in each environment that the viewer can see. */
async function environmentItems(
  environments: readonly Environment[],
  { storage: { people, reports }, viewer }: ItemContext,
): Promise<EnvironmentItem[]> {
  if (environments.length === 0) {
    return [];
  }
  const ids = new Set(environments.flatMap(({ creatorId, lastEditorId }) => [creatorId, lastEditorId]));
  // Sequential queries, because a transaction has only one connection.
  const principalRows = await people.getMany([...ids]);
  const uids = environments.map(({ id }) => id);
  const lastRuns = await reports.lastRuns(viewer, uids);
  const principals = new Map(principalRows.map((principal) => [principal.id, principal]));
  return environments.map((environment) => itemOf(environment, principals, lastRuns.get(environment.id)));
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
  return defined({
    last_task_run_timestamp: startedAt?.toISOString(),
    last_task_created: {
      id,
      title,
      prompt,
      state,
      created_at: createdAt.toISOString(),
      updated_at: updatedAt.toISOString(),
      ...defined({ started_at: created.startedAt?.toISOString() }),
    },
  });
}
