import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { hostsOf, type WorkerHost } from "../../core/model/workers/worker.ts";
import type { ApiDeps } from "../api-deps.ts";
import { problems } from "../schemas/problem.ts";
import { Timestamp } from "../schemas/text.ts";

const EXAMPLE = {
  worker_host: "build-box",
  connection_count: 2,
  connected_at: "2026-03-01T06:00:00.000Z",
  last_seen_at: "2026-03-01T09:04:31.000Z",
  disk_full_count: 0,
};

const WorkerItem = z
  .object({
    worker_host: z.string().describe("The value for `config.worker_host` of a run."),
    connection_count: z.int().describe("The number of worker processes with this name."),
    connected_at: Timestamp.describe("When the oldest of them started."),
    last_seen_at: Timestamp.describe("When one of them last reported."),
    disk_full_count: z
      .int()
      .describe(
        "The number of these workers that take no run, because their disk has too little free space.",
      ),
  })
  .meta({ id: "WorkerHost", description: "The live workers that share a name.", examples: [EXAMPLE] });

const ListWorkersResponse = z
  .object({
    workers: z.array(WorkerItem).describe("In alphabetical order. Workers without a name are left out."),
  })
  .meta({
    id: "ListWorkersResponse",
    description: "The worker names that a run can request.",
    examples: [{ workers: [EXAMPLE] }],
  });

function workerItem(host: WorkerHost): z.output<typeof WorkerItem> {
  return {
    worker_host: host.name,
    connection_count: host.connectionCount,
    connected_at: host.connectedAt.toISOString(),
    last_seen_at: host.lastSeenAt.toISOString(),
    disk_full_count: host.crowdedCount,
  };
}

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
