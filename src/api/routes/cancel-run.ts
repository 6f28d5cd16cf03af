import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

type CancelDeps = Pick<ApiDeps, "runs">;

const ADDRESSES = [
  { path: "/agent/runs/:runId/cancel", operationId: "cancelRun", deprecated: false },
  { path: "/agent/tasks/:runId/cancel", operationId: "cancelTask", deprecated: true },
] as const;

const RESPONSE = { 200: z.string().describe("The run's id."), ...problems(400, 401, 404, 422, 503) };

export function cancelRunRoutes(deps: CancelDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
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
            run: await deps.runs.cancel(id, viewer, extras),
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
