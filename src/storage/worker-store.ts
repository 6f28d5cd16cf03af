import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import type { Durations, StartDurations } from "../core/model/workers/start-durations.ts";
import type { DiskUse, LiveWorker, Worker } from "../core/model/workers/worker.ts";
import type { HostLoad, WorkerStore } from "../core/ports/stores/worker-store.ts";
import type { Statements } from "./database.ts";
import { Prisma, type Worker as WorkerRow } from "./generated/client.ts";
import type { MembersOf } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";

const DISK_USE: z.ZodType<DiskUse> = z.looseObject({
  freeBytes: z.number(),
  takesRuns: z.boolean(),
  used: z.looseObject({
    workspaces: z.number(),
    environments: z.number(),
    mirrors: z.number(),
    agents: z.number(),
  } satisfies MembersOf<DiskUse["used"]>),
  orphans: z.number(),
} satisfies MembersOf<DiskUse>);

const DURATIONS: z.ZodType<Durations> = z.looseObject({
  within: z.array(z.number()),
  count: z.number(),
  sumSeconds: z.number(),
} satisfies MembersOf<Durations>);
/** A newer worker may count phases that this version does not know. */
const STARTS: z.ZodType<StartDurations> = z.record(z.string(), DURATIONS);

/** Heartbeats arrive three times as often. */
export const LIVE_SECONDS = 30;
const KEPT_SECONDS = 24 * 3_600;

const BEAT = `
  INSERT INTO workers (id, worker_host, capacity, sandbox, isolated, disk, disk_use, starts, started_at, last_seen_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, clock_timestamp(), clock_timestamp())
  ON CONFLICT (id) DO UPDATE
  SET last_seen_at = clock_timestamp(), disk_use = excluded.disk_use, starts = excluded.starts`;
/** A worker may have reported nothing about its disk. */
const TAKES_RUNS = Prisma.raw("(disk_use ->> 'takesRuns')::boolean IS DISTINCT FROM false");
/**
 * A run that waits for a person, or that failed and waits for a follow-up, has given its slot back. A run whose lease has expired keeps it until the run is recovered:
 * after an outage of the database the leases of live workers have expired as well, and their agents still work.
 */
export const HAS_SLOT = Prisma.raw(
  "lease_expires_at IS NOT NULL AND state <> 'BLOCKED' AND debug_until IS NULL",
);
const REMOVE = `
  DELETE FROM workers WHERE id = $1 AND last_seen_at <= clock_timestamp() - $2::int * interval '1 millisecond'`;
const DELETE_GONE =
  "DELETE FROM workers WHERE last_seen_at < clock_timestamp() - $1::int * interval '1 second'";

/** All times are the database's, because the clocks of workers may differ. */
export class PrismaWorkerStore implements WorkerStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async beat({ id, disk, diskUse, host, slots, sandbox, starts }: Worker): Promise<void> {
    const [use, durations] = [diskUse, starts].map((each) =>
      each === undefined ? null : JSON.stringify(each),
    );
    const values = [id, host ?? null, slots, sandbox.name, sandbox.isolated, disk ?? null, use, durations];
    await this.#database.rows({ text: BEAT, values });
    await this.#database.rows({ text: DELETE_GONE, values: [KEPT_SECONDS] });
  }

  async remove(id: string, silentMs = 0): Promise<void> {
    await this.#database.rows({ text: REMOVE, values: [id, silentMs] });
  }

  async listLive(): Promise<readonly LiveWorker[]> {
    const live = await this.#database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        SELECT id FROM workers
        WHERE last_seen_at > clock_timestamp() - ${LIVE_SECONDS}::int * interval '1 second'`,
    );
    const where = { id: { in: live.map(({ id }) => id) } };
    const rows = await this.#database.query((client) =>
      client.worker.findMany({ where, orderBy: [{ startedAt: "asc" }, { id: "asc" }] }),
    );
    return rows.map(workerOf);
  }

  async listLoads(): Promise<readonly HostLoad[]> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<
        { host: string | null; slots: number; crowdedSlots: number | null; taken: number }[]
      >`
        WITH leases AS (
          SELECT lease_worker AS id, count(*) AS held FROM runs WHERE ${HAS_SLOT} GROUP BY lease_worker)
        SELECT worker_host AS host, sum(capacity)::int AS slots,
          (sum(capacity) FILTER (WHERE NOT ${TAKES_RUNS}))::int AS "crowdedSlots",
          coalesce(sum(least(coalesce(held, 0), capacity)), 0)::int AS taken
        FROM workers LEFT JOIN leases USING (id)
        WHERE last_seen_at > clock_timestamp() - ${LIVE_SECONDS}::int * interval '1 second'
        GROUP BY worker_host`,
    );
    return rows.map(({ crowdedSlots, host, ...load }) => ({
      ...load,
      ...defined({
        crowdedSlots: crowdedSlots === null ? undefined : crowdedSlots,
        host: host === null ? undefined : host,
      }),
    }));
  }
}

function workerOf({
  id,
  disk,
  diskUse,
  workerHost,
  capacity,
  sandbox,
  isolated,
  starts,
  startedAt,
  lastSeenAt,
}: WorkerRow): LiveWorker {
  const host = workerHost === null ? {} : { host: workerHost };
  const ownDisk = disk === null ? {} : { disk };
  return {
    id,
    ...host,
    ...ownDisk,
    ...defined({
      diskUse:
        diskUse === null
          ? undefined
          : parseJsonColumn(DISK_USE, diskUse, { table: "workers", id, column: "disk_use" }),
      starts:
        starts === null
          ? undefined
          : parseJsonColumn(STARTS, starts, { table: "workers", id, column: "starts" }),
    }),
    slots: capacity,
    sandbox: { name: sandbox, isolated },
    startedAt,
    lastSeenAt,
  };
}
