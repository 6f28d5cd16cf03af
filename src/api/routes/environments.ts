import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { EnvironmentService } from "../../core/environments/environment-service.ts";
import type { Storage } from "../../core/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import {
  CreateEnvironmentRequest,
  EnvironmentItem,
  environmentConfigOf,
  ListEnvironmentsQuery,
  ListEnvironmentsResponse,
  ReplaceEnvironmentRequest,
} from "../schemas/environment.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { environmentItem, environmentItems } from "./environment-items.ts";

const PATH = "/agent/environments";
const tags = ["environments"];
const params = z.object({ uid: z.string().describe("An environment's uid.") });
const reading = { scope: "runs:read", acceptsCookie: true } as const;
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listEnvironments",
  summary: "List environments",
  tags,
  querystring: ListEnvironmentsQuery,
  response: { 200: ListEnvironmentsResponse, ...problems(400, 401, 503) },
};
const GET = {
  operationId: "getEnvironment",
  summary: "Get an environment",
  tags,
  params,
  response: { 200: EnvironmentItem, ...problems(401, 404, 503) },
};
const CREATE = {
  operationId: "createEnvironment",
  summary: "Make an environment",
  tags,
  body: CreateEnvironmentRequest,
  response: { 201: EnvironmentItem, ...problems(400, 401, 403, 503) },
};
const REPLACE = {
  operationId: "replaceEnvironment",
  summary: "Change an environment",
  description: "Runs that are under way go on with it as it was when they began.",
  tags,
  params,
  body: ReplaceEnvironmentRequest,
  response: { 200: EnvironmentItem, ...problems(400, 401, 403, 404, 503) },
};
const REMOVE = {
  operationId: "deleteEnvironment",
  summary: "Delete an environment",
  description: "Runs keep its uid; new runs and schedules that name it are refused.",
  tags,
  params,
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};

export function environmentRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock, storage: wholeStorage } = deps;
  const within = ({ environments }: Storage) => new EnvironmentService({ environments, clock });
  const all = within(wholeStorage);
  return async (app) => {
    app.get(PATH, { schema: LIST, config: reading }, async (request) => {
      const viewer = viewerOf(request);
      const found = await all.list(viewer, request.query.sort_by);
      return { environments: await environmentItems(wholeStorage, viewer, found) };
    });
    app.get(`${PATH}/:uid`, { schema: GET, config: reading }, async (request) => {
      const viewer = viewerOf(request);
      return environmentItem(wholeStorage, viewer, await all.get(viewer, request.params.uid));
    });
    app.post(PATH, { schema: CREATE, config: writing }, async (request, reply) => {
      const [viewer, config] = [viewerOf(request), environmentConfigOf(request.body.config)];
      return idempotency.writeOnce(request, reply, {
        operation: "environments.create",
        status: 201,
        perform: async (storage) => {
          const made = await within(storage).create(viewer, config, request.body.team ?? true);
          return environmentItem(storage, viewer, made);
        },
      });
    });
    app.put(`${PATH}/:uid`, { schema: REPLACE, config: writing }, async (request, reply) => {
      const { uid } = request.params;
      const [viewer, config] = [viewerOf(request), environmentConfigOf(request.body.config)];
      return idempotency.writeOnce(request, reply, {
        operation: "environments.replace",
        target: uid,
        perform: async (storage) =>
          environmentItem(storage, viewer, await within(storage).replace(viewer, uid, config)),
      });
    });
    app.delete(`${PATH}/:uid`, { schema: REMOVE, config: writing }, async (request, reply) => {
      const { uid } = request.params;
      const viewer = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "environments.delete",
        target: uid,
        perform: async (storage) => {
          await within(storage).remove(viewer, uid);
          return SUCCESS;
        },
      });
    });
  };
}
