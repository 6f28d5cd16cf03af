import type { Bench, Figure } from "../bench.ts";
import type { LoadOrder } from "../load/load-order.ts";
import { round, valueRow } from "../report.ts";
import { residentMebibytes } from "../setup/processor-time.ts";
import { type Service, startService } from "../setup/service.ts";
import { slopeOf, spreadOf } from "../statistics.ts";

const PER_SECOND = 100;
const CONNECTIONS = 16;
const SAMPLE_MS = 1_000;
const IDLE_SECONDS = 24;
/**
 * The share of the samples that is ignored at the start: there, caches and compiled code grow and garbage of the
 * start is freed.
 */
const STARTUP_SHARE = 1 / 3;
const GOALS = {
  idle: { reach: 130, aim: 110, wants: "less" },
  loaded: { reach: 330, aim: 250, wants: "less" },
  slope: { reach: 1, aim: 0, wants: "less" },
} as const;

type Sample = { readonly x: number; readonly y: number };

/**
 * P16: memory of the API process, idle and under a steady mix of creates and reads. The first start creates the tables
 * and the administrator. Use `--soak 30m` for a meaningful result.
 */
export const memory: Figure = {
  names: ["P16"],
  measure: async (bench) => {
    const { options, remark, log } = bench;
    const databaseUrl = await bench.postgres.database("memory");
    const start = async (): Promise<Service> => {
      const service = await startService(bench.folder, databaseUrl);
      bench.cleanup.defer(() => service.child.stop());
      return service;
    };
    log("P16: memory when idle");
    const first = await start();
    const idleFirst = await watchIdle(first);
    await first.child.stop();
    const service = await start();
    const idle = await watchIdle(service);
    log(`P16: memory over ${options.soakSeconds} s`);
    const loaded = await watch(service, bench.load.perform(orderOf(bench, service)));
    const steady = loaded.slice(Math.floor(loaded.length * STARTUP_SHARE));
    const minutes = options.soakSeconds / 60;
    const row = (name: keyof typeof GOALS, what: string, values: readonly number[], unit: string) =>
      valueRow({ figure: "P16", what }, spreadOf(values), GOALS[name], unit);
    if (minutes < 30) {
      remark(`P16 was watched for ${round(minutes)} min: give --soak 30m for the slope.`);
    }
    return [
      row("idle", "memory, idle after the first start", idleFirst, "MiB"),
      row("idle", "memory, idle after a later start", idle, "MiB"),
      row(
        "loaded",
        `memory, ${PER_SECOND} requests a second`,
        steady.map(({ y }) => y),
        "MiB",
      ),
      row("slope", `growth over ${round(minutes)} min`, [slopeOf(steady)], "MiB/min"),
    ];
  },
};

function orderOf({ options }: Bench, { headers, url }: Service): LoadOrder {
  const body = JSON.stringify({ prompt: "Mend the import. ".repeat(15) });
  return {
    url,
    requests: [
      { method: "POST", path: "/api/v1/agent/runs", headers: { ...headers, "idempotency-key": "{n}" }, body },
      { method: "GET", path: "/api/v1/agent/runs?limit=50", headers },
      { method: "GET", path: "/api/v1/agent/runs?state=QUEUED", headers },
      { method: "GET", path: "/healthz", headers },
    ],
    connections: CONNECTIONS,
    perSecond: PER_SECOND,
    warmUpSeconds: options.warmUpSeconds,
    seconds: options.soakSeconds,
  };
}

async function watchIdle(service: Service): Promise<readonly number[]> {
  const samples = await watch(service, new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1_000)));
  return samples.slice(Math.floor(samples.length * (1 - STARTUP_SHARE))).map(({ y }) => y);
}

/** Samples the memory of the service with the time in minutes until `end`. */
async function watch({ child }: Service, end: Promise<unknown>): Promise<readonly Sample[]> {
  const samples: Promise<Sample>[] = [];
  const startMs = performance.now();
  const take = async (): Promise<Sample> => {
    const x = (performance.now() - startMs) / 60_000;
    return { x, y: await residentMebibytes(child.pid) };
  };
  const timer = setInterval(() => samples.push(take()), SAMPLE_MS);
  try {
    await end;
  } finally {
    clearInterval(timer);
  }
  return Promise.all(samples);
}
