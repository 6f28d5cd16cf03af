import { join } from "node:path";
import type { Figure } from "../bench.ts";
import { type Row, valueRow } from "../report.ts";
import { startFloor, startService } from "../setup/service.ts";
import { spreadOf } from "../statistics.ts";

const STARTS = 5;
const READY = { reach: 1_000, aim: 500, wants: "less" } as const;

/** P15: from the start of the process until it accepts requests, on a database that has all migrations. */
export const startTime: Figure = {
  names: ["P15"],
  measure: async ({ folder, postgres, log }) => {
    const url = await postgres.database("start_time");
    const ways = {
      api: () => startService(folder, url),
      worker: () => startService(folder, url, { ERRAND_ROLE: "worker", ERRAND_SANDBOX: "local" }),
      floor: () => startFloor(folder, join(import.meta.dirname, "start-time-floor.ts"), url),
    };
    log("P15: start");
    const first = await ways.api();
    await first.child.stop();
    const timesMs: Record<keyof typeof ways, number[]> = { api: [], worker: [], floor: [] };
    for (let index = 0; index < STARTS; index += 1) {
      for (const name of ["api", "worker", "floor"] as const) {
        const { child } = await ways[name]();
        timesMs[name].push(child.readyAfterMs);
        await child.stop();
      }
    }
    const row = (name: "api" | "worker"): Row =>
      valueRow(
        { figure: "P15", what: `start until ready, ${name}` },
        spreadOf(timesMs[name]),
        READY,
        "ms",
        spreadOf(timesMs.floor),
      );
    return [row("api"), row("worker")];
  },
};
