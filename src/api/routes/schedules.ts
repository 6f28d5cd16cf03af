import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { RunConfig } from "../../core/runs/run.ts";
import { ScheduleService } from "../../core/schedules/schedule-service.ts";
import type { Storage } from "../../core/storage.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { requireBytes, requireCharacters, requireConfigBytes } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListSchedulesResponse,
  newScheduleOf,
  ScheduleItem,
  ScheduleRequest,
  ScheduleUpdateRequest,
  scheduleEditOf,
} from "../schemas/schedule.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { requireId } from "./ids.ts";
import { scheduleItemOf, scheduleItemsOf } from "./schedule-items.ts";

const ROOT = "/agent/schedules";
const ONE = `${ROOT}/:scheduleId`;
const tags = ["schedules"];
const params = z.object({ scheduleId: z.string().describe("A schedule's id.") });
/** Who makes a schedule starts runs by it, so this needs the same as starting them. */
const reading = { scope: "runs:read", acceptsCookie: true } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listSchedules",
  summary: "List schedules",
  tags,
  response: { 200: ListSchedulesResponse, ...problems(401, 403, 503) },
};
const GET = {
  operationId: "getSchedule",
  summary: "Get a schedule",
  tags,
  params,
  response: { 200: ScheduleItem, ...problems(401, 403, 404, 503) },
};
const CREATE = {
  operationId: "createSchedule",
  summary: "Start runs on a schedule",
  description:
    "In the name of who makes it, without their rights to administer. A due time fires once; one that was missed fires " +
    "once, late, when the server is back.",
  tags,
  body: ScheduleRequest,
  response: { 201: ScheduleItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const REPLACE = {
  operationId: "replaceSchedule",
  summary: "Replace a schedule",
  tags,
  params,
  body: ScheduleUpdateRequest,
  response: { 200: ScheduleItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const DELETE = {
  operationId: "deleteSchedule",
  summary: "Delete a schedule",
  description: "Its runs stay.",
  tags,
  params,
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};
const PAUSE = {
  operationId: "pauseSchedule",
  summary: "Pause a schedule",
  description: "Pausing it twice is no error.",
  tags,
  params,
  response: { 200: ScheduleItem, ...problems(401, 403, 404, 503) },
};
const RESUME = {
  operationId: "resumeSchedule",
  summary: "Resume a paused schedule",
  description: "What came due while it was paused is not made up for.",
  tags,
  params,
  response: { 200: ScheduleItem, ...problems(401, 403, 404, 503) },
};

export function scheduleRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(writeRoutes(deps, idempotency));
    await app.register(changeRoutes(deps, idempotency));
  };
}

function readRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const schedules = serviceOn(deps, deps.storage);
  return async (app) => {
    app.get(ROOT, { schema: LIST, config: reading }, async (request) => ({
      schedules: await scheduleItemsOf(
        deps.storage,
        viewerOf(request),
        await schedules.list(viewerOf(request)),
      ),
    }));
    app.get(ONE, { schema: GET, config: reading }, async (request) => {
      const id = requireId(request.params.scheduleId, "schedule");
      const viewer = viewerOf(request);
      return scheduleItemOf(deps.storage, viewer, await schedules.get(viewer, id));
    });
  };
}

function writeRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(ROOT, { schema: CREATE, config: writing }, async (request, reply) => {
      requireRunnable(deps, request.body);
      const viewer = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "schedules.create",
        status: 201,
        perform: async (storage) =>
          scheduleItemOf(
            storage,
            viewer,
            await serviceOn(deps, storage).create(viewer, newScheduleOf(request.body)),
          ),
      });
    });
    app.put(ONE, { schema: REPLACE, config: writing }, async (request, reply) => {
      requireRunnable(deps, request.body);
      const viewer = viewerOf(request);
      const id = requireId(request.params.scheduleId, "schedule");
      return idempotency.writeOnce(request, reply, {
        operation: "schedules.replace",
        target: id,
        perform: async (storage) =>
          scheduleItemOf(
            storage,
            viewer,
            await serviceOn(deps, storage).replace(viewer, id, scheduleEditOf(request.body)),
          ),
      });
    });
    app.delete(ONE, { schema: DELETE, config: writing }, async (request, reply) => {
      const viewer = viewerOf(request);
      const id = requireId(request.params.scheduleId, "schedule");
      return idempotency.writeOnce(request, reply, {
        operation: "schedules.delete",
        target: id,
        perform: async (storage) => {
          await serviceOn(deps, storage).remove(viewer, id);
          return SUCCESS;
        },
      });
    });
  };
}

function changeRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    for (const [change, schema] of [["pause", PAUSE] as const, ["resume", RESUME] as const]) {
      app.post(`${ONE}/${change}`, { schema, config: writing }, async (request, reply) => {
        const viewer = viewerOf(request);
        const id = requireId(request.params.scheduleId, "schedule");
        return idempotency.writeOnce(request, reply, {
          operation: `schedules.${change}`,
          target: id,
          perform: async (storage) =>
            scheduleItemOf(storage, viewer, await serviceOn(deps, storage)[change](viewer, id)),
        });
      });
    }
  };
}

function serviceOn({ clock, nextDue }: ApiDeps, storage: Storage): ScheduleService {
  return new ScheduleService({ storage, clock, nextDue });
}

/** What no run could be started with is refused now, and not when it comes due. */
function requireRunnable(
  deps: ApiDeps,
  { name, prompt, agent_config: config }: Pick<ScheduleUpdateRequest, "name" | "prompt" | "agent_config">,
): void {
  const limits = limitsOf(deps);
  requireCharacters("name", name, limits.titleLength);
  requireBytes("prompt", prompt, limits.promptBytes);
  requireConfigBytes("agent_config", config, limits);
  deps.runs.requireKeepable((config ?? {}) as RunConfig, "agent_config");
}
