import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase } from "../../support/test-database.ts";

const MANY = 20_000;
const MEMBERS = 5;
const SLOTS = 32;
const CLAIMERS = 8;

/** Waiting runs of one team. A claim reads the queue, not the runs. */
const QUEUED = `
  INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at)
  SELECT gen_random_uuid(), $1::uuid, md5('member' || number % $3)::uuid, 1, '', now() + number * interval '1 millisecond'
  FROM generate_series(1, $2) AS number`;
const RESERVE = "SELECT next_id::text AS id FROM reserve_next_run(NULL, NULL, '{}')";
const TEAM_OF = "SELECT team_id::text AS team FROM run_queue WHERE run_id = $1::uuid";
const READ = `
  SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'run_queue'`;

describe("the queue of runs with 20,000 runs of one team", () => {
  const other = randomUUID();
  let database: Database;
  let close: () => Promise<void>;
  beforeEach(async () => {
    const testDatabase = await createTestDatabase();
    database = new Database({ url: testDatabase.url, maxConnections: 10, log: SILENT_LOG });
    close = async () => {
      await database.close();
      await testDatabase.drop();
    };
    const text = "INSERT INTO teams (id, name, sharing, created_at) VALUES ($1::uuid, 'Other', 'off', now())";
    await database.rows({ text, values: [other] });
    await database.rows({ text: QUEUED, values: [FIRST_TEAM, MANY, MEMBERS] });
  });
  afterEach(() => close());

  async function claim(): Promise<string | undefined> {
    const [next] = await database.rows<{ id: string }>({ text: RESERVE, values: [] });
    const [row] = await database.rows<{ team: string }>({ text: TEAM_OF, values: [next?.id] });
    return row?.team;
  }

  test("a team alone gets all slots, and the next claim is the run of a team that comes", async () => {
    const claimed: unknown[] = [];
    while (claimed.length < SLOTS) {
      claimed.push(...(await Promise.all(Array.from({ length: CLAIMERS }, claim))));
    }
    await database.rows({ text: QUEUED, values: [other, 1, 1] });

    expect(claimed).toEqual(Array(SLOTS).fill(FIRST_TEAM));
    expect(await claim()).toBe(other);
    expect(await claim()).toBe(FIRST_TEAM);
  });

  test("a claim reads as many rows of the queue as there are teams and members that wait, not runs", async () => {
    const rows = await database.transaction(async (tx) => {
      await tx.$queryRawUnsafe(RESERVE);
      const [read] = await tx.$queryRawUnsafe<{ rows: number }[]>(READ);
      return read?.rows ?? Infinity;
    });

    expect(rows).toBeLessThan(20 * MEMBERS);
  });

  test("a claim neither waits for a run that a transaction changes nor locks other runs", async () => {
    const [first] = await database.rows<{ id: string }>({
      text: "SELECT run_id::text AS id FROM run_queue ORDER BY queued_at LIMIT 1",
      values: [],
    });
    await database.transaction(async (tx) => {
      await tx.$executeRawUnsafe("DELETE FROM run_queue WHERE run_id = $1::uuid", first?.id);

      const [next] = await database.rows<{ id: string }>({ text: RESERVE, values: [] });

      expect(next?.id).toBeDefined();
      expect(next?.id).not.toBe(first?.id);
    });

    await database.transaction(async (tx) => {
      await tx.$queryRawUnsafe(RESERVE);
      const [free] = await database.rows<{ count: number }>({
        text: "SELECT count(*)::int AS count FROM (SELECT FROM run_queue FOR UPDATE SKIP LOCKED) AS free",
        values: [],
      });
      expect(free?.count).toBe(MANY - 2);
    });
  });

  test("a run that is stored while the last one of its team is claimed is claimed next", async () => {
    await database.rows({ text: "DELETE FROM run_queue", values: [] });
    await database.rows({ text: QUEUED, values: [other, 1, 1] });

    await database.transaction(async (tx) => {
      await tx.$executeRawUnsafe(QUEUED, other, 1, 1);
      expect(await claim()).toBe(other);
      expect(await claim()).toBeUndefined();
    });

    expect(await claim()).toBe(other);
  });
});
