import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { parseRunId, type RunId } from "../../core/basics/ids.ts";
import type { CancelStatus } from "../../core/requests/cancel-many.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { CancelRunsRequest, CancelRunsResponse } from "../schemas/cancel-runs.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

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
  const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
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
