import { join } from "node:path";
import type { Bench, Figure } from "../bench.ts";
import type { RequestShape } from "../load/load-order.ts";
import { type Row, ratioRow, valueRow } from "../report.ts";
import { query } from "../setup/postgres.ts";
import { startFloor, startService } from "../setup/service.ts";
import { measureInTurns, ratiosOf, type Side, spreadBy } from "../windows.ts";

const CONNECTIONS = 32;
const PER_SECOND = 200;
const PROMPT = "Find out why the nightly import skips the last line of each file, and mend it. ".repeat(3);
const BODY = JSON.stringify({ prompt: PROMPT, config: { name: "nightly", model_id: "small" } });

/** Removes everything that the previous round stored. */
const EMPTY_OURS = "TRUNCATE runs, idempotent_responses, pgboss.job CASCADE; CHECKPOINT";
const EMPTY_FLOOR = "TRUNCATE floor_runs; CHECKPOINT";

/**
 * P1: authentication, idempotency, and run, event and job committed before the answer, compared with inserting one
 * row. P3: how much of that is processor time of the service. P2: the latency at a rate below saturation, because at
 * saturation the queue is measured.
 */
export const durableCreate: Figure = {
  names: ["P1", "P2", "P3"],
  measure: async (bench) => {
    const { sides, empty } = await prepare(bench);
    bench.log("P1, P3: durable create, as many as come back");
    const { ours, floor } = await measureInTurns(bench, sides, empty);
    bench.log(`P2: durable create, ${PER_SECOND} a second`);
    const paced = await measureInTurns(bench, mapSides(sides, { perSecond: PER_SECOND }), empty);
    const rows: readonly Row[] = [
      ratioRow({ figure: "P1", what: "durable create, 32 at once" }, ratiosOf(ours, floor), P1, "/s"),
      ...(["p50Ms", "p99Ms"] as const).map((quantile) =>
        valueRow(
          { figure: "P2", what: `create at ${PER_SECOND}/s, ${quantile.slice(0, 3)}` },
          spreadBy(paced.ours, (window) => window[quantile]),
          P2[quantile],
          "ms",
          spreadBy(paced.floor, (window) => window[quantile]),
        ),
      ),
      valueRow(
        { figure: "P3", what: "server's processor time per create" },
        spreadBy(ours, ({ serverMicros }) => serverMicros),
        P3,
        "us",
        spreadBy(floor, ({ serverMicros }) => serverMicros),
      ),
      valueRow(
        { figure: "P3", what: "database's processor time per create" },
        spreadBy(ours, ({ databaseMicros }) => databaseMicros),
        undefined,
        "us",
        spreadBy(floor, ({ databaseMicros }) => databaseMicros),
      ),
    ];
    return rows;
  },
};

const P1 = { reach: 0.3, aim: 0.45, wants: "more" } as const;
const P2 = {
  p50Ms: { reach: 5, aim: 3, wants: "less" },
  p99Ms: { reach: 25, aim: 15, wants: "less" },
} as const;
const P3 = { reach: 400, aim: 250, wants: "less" } as const;

type Sides = Readonly<Record<"ours" | "floor", Side>>;

async function prepare({
  folder,
  postgres,
  cleanup,
}: Bench): Promise<{ sides: Sides; empty: () => Promise<void> }> {
  const urls = {
    ours: await postgres.database("create_ours"),
    floor: await postgres.database("create_floor"),
  };
  const service = await startService(folder, urls.ours);
  cleanup.defer(() => service.child.stop());
  const floor = await startFloor(folder, join(import.meta.dirname, "durable-create-floor.ts"), urls.floor);
  cleanup.defer(() => floor.child.stop());
  const create: RequestShape = {
    method: "POST",
    path: "/api/v1/agent/runs",
    headers: { ...service.headers, "idempotency-key": "{n}" },
    body: BODY,
  };
  const sides: Sides = {
    ours: {
      pid: service.child.pid,
      order: { url: service.url, requests: [create], connections: CONNECTIONS },
    },
    floor: {
      pid: floor.child.pid,
      order: {
        url: floor.url,
        requests: [{ method: "POST", path: "/runs", headers: {}, body: BODY }],
        connections: CONNECTIONS,
      },
    },
  };
  const empty = async () => {
    await query(urls.ours, EMPTY_OURS);
    await query(urls.floor, EMPTY_FLOOR);
  };
  return { sides, empty };
}

function mapSides({ ours, floor }: Sides, order: Partial<Side["order"]>): Sides {
  return {
    ours: { ...ours, order: { ...ours.order, ...order } },
    floor: { ...floor, order: { ...floor.order, ...order } },
  };
}
