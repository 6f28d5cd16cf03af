import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { hostsOf } from "../../core/model/workers/worker.ts";
import type { ApiDeps } from "../api-deps.ts";
import { problems } from "../schemas/problem.ts";
import { ListWorkersResponse, workerItem } from "../schemas/workers.ts";

const LIST = {
  operationId: "listConnectedWorkers",
  summary: "List the names of live workers",
  tags: ["agents"],
  response: { 200: ListWorkersResponse, ...problems(401, 503) },
};

export function workerRoutes({ storage: { workers } }: Pick<ApiDeps, "storage">): FastifyPluginAsyncZod {
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    app.get("/agent/connected-self-hosted-workers", { schema: LIST, config }, async () => ({
      workers: hostsOf(await workers.listLive()).map(workerItem),
    }));
  };
}
