import { join } from "node:path";
import type { Bench, Figure } from "../bench.ts";
import type { RequestShape } from "../load/load-order.ts";
import { type Row, ratioRow } from "../report.ts";
import { fillRuns } from "../setup/fill-runs.ts";
import { TEAM } from "../setup/people.ts";
import { query } from "../setup/postgres.ts";
import { startFloor, startService } from "../setup/service.ts";
import { measureInTurns, ratiosOf, type Side } from "../windows.ts";

const ROWS = 10_000;
const ASKED_FOR = 1_000;
const PAGE = 50;
const GET_CONNECTIONS = 32;
const LIST_CONNECTIONS = 16;

/**
 * P4: one run. P5: the newest 50 of 10,000. Both with authentication, compared with the same rows read from the same
 * table.
 */
export const readRuns: Figure = {
  names: ["P4", "P5"],
  measure: async (bench) => {
    const start = await prepare(bench);
    bench.log("P4: get");
    const got = await measureInTurns(bench, start.get);
    bench.log("P5: list of 50");
    const listed = await measureInTurns(bench, start.list);
    const rows: readonly Row[] = [
      ratioRow({ figure: "P4", what: "get a run, 32 at once" }, ratiosOf(got.ours, got.floor), P4, "/s"),
      ratioRow(
        { figure: "P5", what: "list of 50, 16 at once" },
        ratiosOf(listed.ours, listed.floor),
        P5,
        "/s",
      ),
    ];
    return rows;
  },
};

const P4 = { reach: 0.45, aim: 0.6, wants: "more" } as const;
const P5 = { reach: 0.35, aim: 0.5, wants: "more" } as const;

type Sides = Readonly<Record<"ours" | "floor", Side>>;

async function prepare({ folder, postgres, cleanup }: Bench): Promise<{ get: Sides; list: Sides }> {
  const url = await postgres.database("read_runs");
  const service = await startService(folder, url);
  cleanup.defer(() => service.child.stop());
  await fillRuns(url, ROWS);
  const floor = await startFloor(folder, join(import.meta.dirname, "read-run-floor.ts"), url);
  cleanup.defer(() => floor.child.stop());
  const runs = await query<{ id: string }>(
    url,
    "SELECT id FROM runs WHERE team_id = $1 ORDER BY md5(id::text) LIMIT $2",
    [TEAM, ASKED_FOR],
  );
  const sidesOf = (connections: number, ours: readonly string[], bare: readonly string[]): Sides => ({
    ours: {
      pid: service.child.pid,
      order: { url: service.url, connections, requests: ours.map((path) => get(path, service.headers)) },
    },
    floor: {
      pid: floor.child.pid,
      order: { url: floor.url, connections, requests: bare.map((path) => get(path, {})) },
    },
  });
  const ids = runs.map(({ id }) => id);
  return {
    get: sidesOf(
      GET_CONNECTIONS,
      ids.map((id) => `/api/v1/agent/runs/${id}`),
      ids.map((id) => `/runs/${id}`),
    ),
    list: sidesOf(
      LIST_CONNECTIONS,
      [`/api/v1/agent/runs?limit=${PAGE}`],
      [`/runs?team=${TEAM}&limit=${PAGE}`],
    ),
  };
}

function get(path: string, headers: RequestShape["headers"]): RequestShape {
  return { method: "GET", path, headers };
}
