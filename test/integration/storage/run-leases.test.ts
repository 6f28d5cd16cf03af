import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { LeaseToken, RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { HeldLease } from "../../../src/core/ports/stores/claim-store.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { Database } from "../../../src/storage/database.ts";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres-server.ts";
import { aChange, anOrigin, aRun } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { waitFor } from "../../support/wait-for.ts";

const TTL_MS = 60_000;
const MANY = 1_000;
const WAL_BYTES_MAX = 150;
const HOT_SHARE_MIN = 0.95;

let server: PostgresServer;
let database: Database;
let storage: Storage;

beforeAll(async () => {
  // The server is private, because other tests write to the log whose bytes are counted here.
  server = await startPostgresServer();
  await applyMigrations(server.url, SILENT_LOG);
  database = new Database({ url: server.url, maxConnections: 2, log: SILENT_LOG });
  const [pubsub, jobInsert] = [SILENT_PUBSUB, NO_JOBS];
  storage = createPrismaStorage({ database, pubsub, clock: systemClock, jobInsert });
});

afterAll(async () => {
  await database?.close();
  await server?.stop();
});

describe("the renewal of leases", () => {
  test("the renewals of 20 runs write at most 150 bytes for each lease, and no index", async () => {
    const leases = await Promise.all(Array.from({ length: 20 }, () => aLease()));
    const rounds = 50;
    // The first write to a page after a checkpoint logs the page. No checkpoint follows within this test.
    await query("CHECKPOINT");
    await storage.leases.renew(leases, TTL_MS);
    const start = await walPosition();

    for (let round = 0; round < rounds; round += 1) {
      expect((await storage.leases.renew(leases, TTL_MS)).size).toBe(leases.length);
    }

    const bytes = Number(await one(`SELECT pg_current_wal_insert_lsn() - '${start}' AS value`));
    expect(bytes / (rounds * leases.length)).toBeLessThanOrEqual(WAL_BYTES_MAX);
    const hotShare = `
      SELECT n_tup_hot_upd::float / n_tup_upd AS value FROM pg_stat_user_tables WHERE relname = 'run_leases'
        AND n_tup_upd >= ${rounds * leases.length}`;
    await expect.poll(() => one(hotShare)).toBeGreaterThanOrEqual(HOT_SHARE_MIN);
  });

  test("a lease is renewed while another transaction has locked the row of its run", async () => {
    const lease = await aLease();

    const renewed = await database.transaction(async (tx) => {
      await tx.$queryRawUnsafe("SELECT FROM runs WHERE id = $1::uuid FOR UPDATE", lease.runId);
      return storage.leases.renew([lease], TTL_MS);
    });

    expect([...renewed.keys()]).toEqual([lease.runId]);
  });
});

test("a run is not taken from its worker by a recovery that waited for the renewal of its lease", async () => {
  const lease = await aLease();
  await query(
    `UPDATE run_leases SET expires_at = now() - interval '1 second' WHERE run_id = '${lease.runId}'`,
  );
  const wereOver: boolean[] = [];
  const recover = () =>
    storage.runs.change(lease.runId, ({ leaseOver, run }) => {
      wereOver.push(leaseOver);
      return leaseOver ? aChange(run, { lease: null, ifLeaseIsOver: true }) : undefined;
    });
  const waiting = "SELECT true AS value FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

  const recovered = await database.transaction(async (tx) => {
    const renewed = `UPDATE run_leases SET expires_at = now() + interval '1 minute' WHERE run_id = '${lease.runId}'`;
    await tx.$executeRawUnsafe(renewed);
    const recovery = recover();
    await waitFor(
      async () => ((await tx.$queryRawUnsafe<unknown[]>(waiting)).length > 0 ? true : undefined),
      {
        what: "the recovery to wait for the renewal",
      },
    );
    return [recovery];
  });

  expect((await recovered[0])?.lease?.token).toBe(lease.token);
  expect(wereOver).toEqual([true, false]);
});

describe("beside processes of the previous release", () => {
  test("a lease that only such a worker renews counts until it expires", async () => {
    const { runId } = await aLease();
    await asPreviousRelease(runId, "interval '10 seconds'");

    expect(await listLost()).not.toContain(runId);
    expect((await storage.runs.getAggregate(runId)).leaseOver).toBe(false);

    await asPreviousRelease(runId, "-interval '1 second'");

    expect(await listLost()).toContain(runId);
    expect((await storage.runs.getAggregate(runId)).leaseOver).toBe(true);
  });

  test("a worker of this release keeps its run, as such a process judges it", async () => {
    const { runId } = await aLease();

    const lost = await query(
      `SELECT id FROM runs WHERE lease_expires_at < clock_timestamp() + interval '12 hours' AND id = '${runId}'`,
    );

    expect(lost).toEqual([]);
  });
});

async function aLease(): Promise<HeldLease> {
  const { id: creatorId } = await storage.people.ensure(FIRST_TEAM, "memory:Ada", "Ada");
  const origin = anOrigin({ creatorId });
  const { id } = await storage.runs.create(origin, aChange(aRun(origin)));
  const token = randomUUID() as LeaseToken;
  const lease = { token, worker: "worker-1", ttlMs: TTL_MS };
  await storage.runs.change(id, ({ run }) => aChange({ ...run, state: "PENDING" }, { lease }));
  return { runId: id, token };
}

/** The previous release claims and renews a lease in the row of the run alone. */
async function asPreviousRelease(runId: RunId, remaining: string): Promise<void> {
  await query(`
    UPDATE runs SET lease_token = gen_random_uuid(), lease_expires_at = clock_timestamp() + ${remaining}
    WHERE id = '${runId}'`);
}

async function listLost(): Promise<readonly RunId[]> {
  return (await storage.leases.listExpiring(0, MANY)).map(({ runId }) => runId);
}

async function walPosition(): Promise<unknown> {
  return one("SELECT pg_current_wal_insert_lsn()::text AS value");
}

async function one(text: string): Promise<unknown> {
  return (await query(text))[0]?.value;
}

function query(text: string): Promise<readonly { readonly value?: unknown }[]> {
  return database.rows({ text, values: [] });
}
