import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { parseRunId, type RunId } from "../../core/basics/ids.ts";
import { CANCEL_STATUSES, type CancelStatus } from "../../core/requests/cancel-many.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

const RUNS_MAX = 100;
const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

const CancelRunsRequest = z
  .object({
    run_ids: z.array(z.string()).max(RUNS_MAX).describe(`The ids of the runs, at most ${RUNS_MAX}.`),
  })
  .meta({
    id: "CancelRunsRequest",
    description: "The runs to cancel.",
    examples: [{ run_ids: [RUN_ID] }],
  });

const CancelStatusItem = z.enum(CANCEL_STATUSES).meta({
  id: "CancelStatus",
  description:
    "`cancelled`: this request cancelled the run. `already_cancelled`: it was cancelled before. `ended`: it had ended " +
    "in another state. `not_found`: it does not exist, or the caller cannot see it. `not_authorized`: a policy forbids it.",
  examples: ["cancelled"],
});

const CancelResult = z
  .object({ run_id: z.string().describe("The id as requested."), status: CancelStatusItem })
  .meta({
    id: "CancelResult",
    description: "The result for one run.",
    examples: [{ run_id: RUN_ID, status: "cancelled" }],
  });

const CancelRunsResponse = z
  .object({ results: z.array(CancelResult).describe("In the order of the request.") })
  .meta({
    id: "CancelRunsResponse",
    description: "The result for each requested run.",
    examples: [{ results: [{ run_id: RUN_ID, status: "cancelled" }] }],
  });

const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const SCHEMA = {
  operationId: "cancelRuns",
  summary: "Cancel several runs",
  description:
    "The results are in the order of the request. A run that cannot be cancelled does not affect the others.",
  tags: ["runs"],
  body: CancelRunsRequest,
  response: { 200: CancelRunsResponse, ...problems(400, 401, 403, 422, 503) },
};

export function cancelRunsRoutes(
  { runs }: Pick<ApiDeps, "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post("/agent/runs/cancel", { schema: SCHEMA, config }, async (request, reply) => {
      const viewer = viewerOf(request);
      const ids = request.body.run_ids;
      return idempotency.writeOnce(request, reply, {
        operation: "runs.cancel-many",
        perform: async (storage) => {
          const known = ids.flatMap((text) => parseRunId(text) ?? []);
          const statuses = await runs.within(storage).cancelMany(known, viewer);
          return { results: ids.map((text) => ({ run_id: text, status: statusIn(statuses, text) })) };
        },
      });
    });
  };
}

/** No run can have an id that is not a UUID. */
function statusIn(statuses: ReadonlyMap<RunId, CancelStatus>, text: string): CancelStatus {
  const id = parseRunId(text);
  return (id && statuses.get(id)) ?? "not_found";
}

const ADDRESSES = [
  { path: "/agent/runs/:runId/cancel", operationId: "cancelRun", deprecated: false },
  { path: "/agent/tasks/:runId/cancel", operationId: "cancelTask", deprecated: true },
] as const;

const RESPONSE = { 200: z.string().describe("The run's id."), ...problems(400, 401, 404, 422, 503) };

export function cancelRunRoutes(
  { runs }: Pick<ApiDeps, "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    for (const { path, operationId, deprecated } of ADDRESSES) {
      const summary = "Cancel a run";
      const schema = {
        operationId,
        deprecated,
        summary,
        tags: ["runs"],
        params: RunParams,
        response: RESPONSE,
      };
      app.post(path, { schema, config }, async (request, reply) => {
        const id = requireRunId(request.params.runId);
        const viewer = viewerOf(request);
        const answer = await idempotency.writeRunOnce(request, reply, {
          operation: "runs.cancel",
          target: id,
          perform: async (extras) => ({
            run: await runs.cancel(id, viewer, extras),
            followUpId: undefined,
          }),
          answer: ({ run }): string => run.id,
        });
        // Fastify sends a string unchanged, but public clients expect a JSON string.
        return reply.type("application/json; charset=utf-8").send(JSON.stringify(answer));
      });
    }
  };
}
