import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import { retriedRun } from "../../core/requests/retried-run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { sourceOf } from "../http/request-source.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentResponse } from "../schemas/run-requests.ts";
import { createdOf } from "./create-run.ts";
import type { Idempotency } from "./idempotency.ts";

type RetryDeps = Pick<ApiDeps, "runs" | "storage">;

const SCHEMA = {
  operationId: "retryRun",
  summary: "Repeat a run",
  description:
    "Creates a run with the same prompt, files and resolved configuration, as a child of the original run. If " +
    "the original run continued a conversation, the new run continues it from the same point. A retry is not shared.",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunAgentResponse, ...problems(401, 403, 404, 409, 422, 503) },
};

export function retryRunRoutes(deps: RetryDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
  return async (app) => {
    app.post("/agent/runs/:runId/retry", { schema: SCHEMA, config }, async (request, reply) => {
      const id = requireRunId(request.params.runId);
      const source = sourceOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.retry",
        target: id,
        perform: async (extras) => {
          const newRun = await retriedRun(deps, id, { creator: viewerOf(request), source });
          return { run: await deps.runs.create(newRun, extras), followUpId: undefined };
        },
        answer: (result) => ({
          ...createdOf(result),
          ...defined({
            ignored: result.run.config.session_sharing === undefined ? undefined : ["config.session_sharing"],
          }),
        }),
      });
    });
  };
}
