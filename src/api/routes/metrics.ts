import type { FastifyPluginAsync } from "fastify";
import { Gauge, Registry } from "prom-client";
import type { LiveWorker } from "../../core/workers/worker.ts";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator } from "../auth/authentication.ts";

/** For operators: what the live workers last reported, in the format of Prometheus. */
export function metricsRoutes({ storage: { workers } }: Pick<ApiDeps, "storage">): FastifyPluginAsync {
  const config = { scope: "admin" } as const;
  return async (app) => {
    app.get("/metrics", { schema: { hide: true }, config }, async (request, reply) => {
      requireOperator(request);
      const registry = workerMetrics(await workers.listLive());
      return reply.type(registry.contentType).send(await registry.metrics());
    });
  };
}

/** A worker that has not reported its disk has no figures of it. Sizes are in bytes. */
function workerMetrics(workers: readonly LiveWorker[]): Registry {
  // A registry of its own, so that a worker that has gone leaves no figure behind.
  const registry = new Registry();
  const registers = [registry];
  const slots = new Gauge({
    name: "errand_worker_slots",
    help: "The largest number of runs at a time of a worker.",
    labelNames: ["worker"],
    registers,
  });
  const free = new Gauge({
    name: "errand_worker_disk_free_bytes",
    help: "The free space of the disk with the data directory of a worker.",
    labelNames: ["worker"],
    registers,
  });
  const used = new Gauge({
    name: "errand_worker_disk_used_bytes",
    help: "What a worker stores: workspaces, prepared environments, mirrors and agents.",
    labelNames: ["worker", "kind"],
    registers,
  });
  const takesRuns = new Gauge({
    name: "errand_worker_takes_runs",
    help: "0 if a worker takes no run because it has too little free space, otherwise 1.",
    labelNames: ["worker"],
    registers,
  });
  for (const { diskUse, id: worker, slots: count } of workers) {
    slots.set({ worker }, count);
    if (diskUse !== undefined) {
      free.set({ worker }, diskUse.freeBytes);
      takesRuns.set({ worker }, Number(diskUse.takesRuns));
      for (const [kind, bytes] of Object.entries(diskUse.used)) {
        used.set({ worker, kind }, bytes);
      }
    }
  }
  return registry;
}
