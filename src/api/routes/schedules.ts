import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import { parseId } from "../../core/basics/ids.ts";
import { isOpenTo } from "../../core/model/people/ownership.ts";
import type { Principal, Viewer } from "../../core/model/people/principal.ts";
import type { Schedule } from "../../core/model/schedules/schedule.ts";
import type { Environment } from "../../core/model/workspaces/environment.ts";
import { ScheduleService } from "../../core/requests/schedules/schedule-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { limitsOf } from "../http/api-limits.ts";
import { except } from "../http/entity-tags.ts";
import { requireBytes, requireCharacters, requireConfigBytes } from "../http/request-validation.ts";
import { runConfigOf } from "../schemas/run-config.ts";
import {
  ListSchedulesResponse,
  newScheduleOf,
  ScheduleItem,
  ScheduleRequest,
  ScheduleUpdateRequest,
  scheduleEditOf,
  scheduleItem,
} from "../schemas/schedule.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ItemContext, uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const LIST = {
  operationId: "listSchedules",
  summary: "List schedules",
  member: "schedules",
  response: ListSchedulesResponse,
};
const GET = { operationId: "getSchedule", summary: "Get a schedule" };
const CREATE = {
  operationId: "createSchedule",
  summary: "Create a schedule",
  description:
    "The runs have the rights of the principal that creates the schedule, except the administrator right. Each " +
    "due time starts one run. A due time that was missed starts one run late, as soon as the server is available " +
    "again.",
  problems: [404, 422],
  body: ScheduleRequest,
} as const;
const REPLACE = {
  operationId: "replaceSchedule",
  summary: "Replace a schedule",
  problems: [422],
  body: ScheduleUpdateRequest,
} as const;
const DELETE = {
  operationId: "deleteSchedule",
  summary: "Delete a schedule",
  description: "The runs of the schedule are kept.",
};
const PAUSE = {
  operationId: "pauseSchedule",
  summary: "Pause a schedule",
  description: "Pausing a paused schedule is not an error.",
};
const RESUME = {
  operationId: "resumeSchedule",
  summary: "Resume a paused schedule",
  description: "Due times during the pause are not made up.",
};

export function scheduleRoutes(
  deps: Pick<ApiDeps, "clock" | "limits" | "nextDue" | "runs" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const { clock, nextDue } = deps;
  return resourceRoutes(deps.storage, idempotency, {
    path: "/agent/schedules",
    tags: ["schedules"],
    // A schedule starts runs, so writing one needs the same scope as starting them.
    scopes: { read: "runs:read", write: "runs:write" },
    id: uuidId("scheduleId", "schedule"),
    serviceOn: (storage) => new ScheduleService({ storage, clock, nextDue }),
    item: ScheduleItem,
    items: scheduleItems,
    edited: except("created_by", "environment", "history", "last_spawn_error", "updated_by"),
    list: { ...LIST, run: (schedules, viewer) => schedules.list(viewer) },
    get: { ...GET, run: (schedules, viewer, id) => schedules.get(viewer, id) },
    create: {
      ...CREATE,
      check: (body, viewer) => requireRunnable(deps, body, viewer),
      run: (schedules, viewer, body) => {
        const request = newScheduleOf(body);
        const config = deps.runs.preparer.storable(viewer.teamId, request.config, { member: SERVERS });
        return schedules.create(viewer, { ...request, config });
      },
    },
    replace: {
      ...REPLACE,
      check: (body, viewer) => requireRunnable(deps, body, viewer),
      run: async (schedules, viewer, id, body) => {
        const edit = scheduleEditOf(body);
        const { config: before } = await schedules.get(viewer, id);
        const config = deps.runs.preparer.storable(viewer.teamId, edit.config, { before, member: SERVERS });
        return schedules.replace(viewer, id, { ...edit, config });
      },
    },
    remove: { ...DELETE, run: (schedules, viewer, id) => schedules.remove(viewer, id) },
    actions: {
      pause: { ...PAUSE, run: (schedules, viewer, id) => schedules.pause(viewer, id) },
      resume: { ...RESUME, run: (schedules, viewer, id) => schedules.resume(viewer, id) },
    },
  });
}

const SERVERS = "agent_config.mcp_servers";

/** With the principals and environments that the schedules name, each looked up once. */
async function scheduleItems(
  schedules: readonly Schedule[],
  { storage, viewer }: ItemContext,
): Promise<ScheduleItem[]> {
  const ids = new Set(schedules.flatMap(({ creatorId, lastEditorId }) => [creatorId, lastEditorId]));
  const principals: readonly Principal[] = ids.size === 0 ? [] : await storage.people.getMany([...ids]);
  const isInOne = schedules.some(({ config }) => config.environment_id !== undefined);
  const all: readonly Environment[] = isInOne ? await storage.environments.list(viewer.teamId) : [];
  const open = all.filter((environment) => isOpenTo(environment, viewer));
  const surroundings = {
    people: new Map(principals.map((principal) => [principal.id, principal])),
    environments: new Map(open.map((environment) => [environment.id, environment])),
  };
  return schedules.map((schedule) => scheduleItem(schedule, surroundings));
}

/** Refuses a schedule whose runs could not be created, instead of failing at its due time. */
async function requireRunnable(
  deps: Pick<ApiDeps, "limits" | "runs" | "storage">,
  {
    agent_config: config = {},
    agent_uid,
    name,
    prompt,
  }: Pick<ScheduleUpdateRequest, "name" | "prompt" | "agent_config" | "agent_uid">,
  creator: Viewer,
): Promise<void> {
  const limits = limitsOf(deps.limits);
  requireCharacters("name", name, limits.titleLength);
  requireBytes("prompt", prompt, limits.promptBytes);
  requireConfigBytes("agent_config", config, limits);
  const runConfig = runConfigOf(config);
  deps.runs.preparer.requireStorable(runConfig, "agent_config");
  // The service refuses an unknown agent.
  const agentUid = agent_uid === undefined ? undefined : parseId(agent_uid);
  const namedAgent = agentUid && (await deps.storage.namedAgents.find(creator.teamId, agentUid));
  await deps.runs.preparer.requirePullRequestAccess(
    defined({ creator, config: runConfig, namedAgent: namedAgent ? namedAgent : undefined }),
    "agent_config",
  );
}
