import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { RunId } from "../../core/basics/ids.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { only } from "../http/entity-tags.ts";
import { requireCharacters } from "../http/request-validation.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { RunItem } from "../schemas/run-item.ts";
import { RunUpdate } from "../schemas/run-requests.ts";
import { SUCCESS } from "../schemas/success.ts";
import type { Idempotency } from "./idempotency.ts";
import { readerOf, runItem } from "./run-items.ts";

const PATH = "/agent/runs/:runId";
/** What callers change of a run. Its state changes by itself. */
export const editedOfRun = only("title", "metadata");
const config = {
  scope: "runs:write",
  describedHeaders: ["Idempotency-Key"],
  edited: editedOfRun,
} as const;

const UPDATE = {
  operationId: "updateRun",
  summary: "Change the title or the metadata of a run, in any state",
  tags: ["runs"],
  params: RunParams,
  body: RunUpdate,
  response: { 200: RunItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const DELETE = {
  operationId: "deleteRun",
  summary: "Delete an ended run with all its traces",
  description:
    "Deletes the events, files, follow-ups, links and deliveries of the run. Files that a retry uses stay, and child " +
    "runs keep working. Messages that threads already show stay there. A thread of the run has no run afterwards: the " +
    "next message to the bot starts a new one. 409 while the run has not ended or a worker is still stopping it.",
  tags: ["runs"],
  params: RunParams,
  response: { 204: z.null().describe("The run is deleted."), ...problems(401, 403, 404, 409, 422, 503) },
};

/** Changes and deletes runs. */
export function changeRunRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const limits = limitsOf(deps.limits);
  const current = (request: FastifyRequest, id: RunId) => async (storage: Storage) =>
    runItem({ ...deps, storage }, await deps.runs.within(storage).get({ id }, viewerOf(request)), {
      ...readerOf(request),
      // No platform is asked while the transaction is open.
      signInMethod: undefined,
    });
  return async (app) => {
    app.patch(PATH, { schema: UPDATE, config }, async (request, reply) => {
      const { metadata, title } = request.body;
      requireCharacters("title", title, limits.titleLength);
      const [id, viewer] = [requireRunId(request.params.runId), viewerOf(request)];
      const details = defined({ title, metadata });
      return idempotency.writeOnce(request, reply, {
        operation: "runs.update",
        target: id,
        runId: id,
        current: current(request, id),
        perform: async (storage) => {
          const run = await deps.runs.within(storage).update(id, viewer, details);
          // No platform is asked while the transaction is open.
          return runItem({ ...deps, storage }, run, { ...readerOf(request), signInMethod: undefined });
        },
      });
    });
    app.delete(PATH, { schema: DELETE, config }, async (request, reply) => {
      const [id, viewer] = [requireRunId(request.params.runId), viewerOf(request)];
      await idempotency.writeOnce(request, reply, {
        operation: "runs.delete",
        target: id,
        status: 204,
        current: current(request, id),
        perform: async (storage) => {
          await deps.runs.within(storage).remove(id, viewer);
          return SUCCESS;
        },
      });
      return reply.code(204).send(null);
    });
  };
}
