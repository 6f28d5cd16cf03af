import type { FastifyPluginAsync } from "fastify";
import { Gauge, Registry } from "prom-client";
import { type Durations, START_BOUNDS, START_PHASES } from "../../core/model/workers/start-durations.ts";
import type { LiveWorker } from "../../core/model/workers/worker.ts";
import { type Backlog, LATE_MINUTES } from "../../core/upkeep/backlog.ts";
import { type MeasuredBytes, STORED_KINDS } from "../../core/upkeep/stored-bytes.ts";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator } from "../auth/authentication.ts";

/** For operators: what waits, what the live workers last reported and what is stored, in the format of Prometheus. */
export function metricsRoutes({
  backlog,
  storage: { workers },
  storedBytes,
}: Pick<ApiDeps, "backlog" | "storage" | "storedBytes">): FastifyPluginAsync {
  const config = { scope: "admin" } as const;
  return async (app) => {
    app.get("/metrics", { schema: { hide: true }, config }, async (request, reply) => {
      requireOperator(request);
      // A registry of its own, so that a worker that has gone leaves no figure behind.
      const registry = new Registry();
      const [live, waiting] = await Promise.all([workers.listLive(), backlog()]);
      addBacklog(registry, waiting);
      addWorkerMetrics(registry, live);
      addStoredBytes(registry, storedBytes.latest);
      return reply.type(registry.contentType).send((await registry.metrics()) + startsText(live));
    });
  };
}

function addBacklog(registry: Registry, backlog: Backlog): void {
  const gauges: Readonly<Record<string, readonly [help: string, value: number]>> = {
    errand_waiting_runs: ["The runs that wait for a worker.", backlog.waitingRuns],
    errand_oldest_wait_seconds: [
      "How long the first of these runs has waited. 0 without such a run.",
      backlog.oldestWaitSeconds,
    ],
    errand_undecided_events: [
      `The events of platforms about which nothing is decided after ${LATE_MINUTES} minutes.`,
      backlog.undecidedEvents,
    ],
    errand_late_notices: [
      `The messages to threads that wait for more than ${LATE_MINUTES} minutes.`,
      backlog.lateNotices,
    ],
    errand_dead_notices: ["The messages to threads that were given up.", backlog.deadNotices],
  };
  for (const [name, [help, value]] of Object.entries(gauges)) {
    new Gauge({ name, help, registers: [registry] }).set(value);
  }
}

/** A worker that has not reported its disk has no figures of it. Sizes are in bytes. */
function addWorkerMetrics(registry: Registry, workers: readonly LiveWorker[]): void {
  const registers = [registry];
  const slots = new Gauge({
    name: "errand_worker_slots",
    help: "The largest number of runs at a time of a worker, without those that wait for a person.",
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
  const orphans = new Gauge({
    name: "errand_worker_orphans_ended",
    help: "How many containers and processes of killed workers a worker has ended since its start.",
    labelNames: ["worker"],
    registers,
  });
  for (const { diskUse, id: worker, slots: count } of workers) {
    slots.set({ worker }, count);
    if (diskUse !== undefined) {
      free.set({ worker }, diskUse.freeBytes);
      takesRuns.set({ worker }, Number(diskUse.takesRuns));
      orphans.set({ worker }, diskUse.orphans);
      for (const [kind, bytes] of Object.entries(diskUse.used)) {
        used.set({ worker, kind }, bytes);
      }
    }
  }
}

const STARTS = "errand_run_start_seconds";
const ABOUT_STARTS = [
  `# HELP ${STARTS} How long the parts of starts took since the start of the worker, from the choice of a run to the first text of its agent.`,
  `# TYPE ${STARTS} histogram`,
];

/** As text, because the workers have counted already, and a `Histogram` wants to count itself. */
function startsText(workers: readonly LiveWorker[]): string {
  const lines = workers.flatMap(({ id, starts }) =>
    START_PHASES.flatMap((phase) =>
      startLines(starts?.[phase], `worker=${JSON.stringify(id)},phase="${phase}"`),
    ),
  );
  return [...ABOUT_STARTS, ...lines, ""].join("\n");
}

function startLines(durations: Durations | undefined, labels: string): readonly string[] {
  if (durations === undefined) {
    return [];
  }
  const { count, sumSeconds, within } = durations;
  return [
    ...START_BOUNDS.map((bound, index) => `${STARTS}_bucket{${labels},le="${bound}"} ${within[index] ?? 0}`),
    `${STARTS}_bucket{${labels},le="+Inf"} ${count}`,
    `${STARTS}_sum{${labels}} ${sumSeconds}`,
    `${STARTS}_count{${labels}} ${count}`,
  ];
}

/** Before the first measurement has ended, there are no figures. */
function addStoredBytes(registry: Registry, measured: MeasuredBytes | undefined): void {
  const registers = [registry];
  const bytes = new Gauge({
    name: "errand_stored_bytes",
    help: "What the database stores for runs: checkpoints of workspaces, files, patches and events.",
    labelNames: ["kind"],
    registers,
  });
  const age = new Gauge({
    name: "errand_stored_bytes_age_seconds",
    help: "How long ago errand_stored_bytes was measured. Absent before the first measurement.",
    registers: measured === undefined ? [] : registers,
  });
  if (measured !== undefined) {
    age.set(Math.round(measured.ageMs / 1_000));
    for (const kind of STORED_KINDS) {
      bytes.set({ kind }, measured.stored[kind]);
    }
  }
}
