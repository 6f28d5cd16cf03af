import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 };
/** The side that waits in a deadlock for this long becomes its victim. */
const PATIENCE = { ours: "10ms", theirs: "1min" } as const;
/** Cast to text, because Prisma does not read the return type of these functions. */
const TAKE_LOCKS = `SELECT ${[1, 2, 3].map((key) => `pg_advisory_xact_lock(${key})::text AS lock${key}`)}`;
const WAITING = `
  SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
/** Fails like the victim of a deadlock and counts the calls, because a sequence is not rolled back. */
const CLASH = `
  CREATE SEQUENCE clashes;
  CREATE FUNCTION clash() RETURNS text LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('clashes'); RAISE EXCEPTION 'clash' USING ERRCODE = '40P01'; END $$`;

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { url } = testDatabase;
  await withConnection(url, SESSION, async (client) => {
    const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
    await client.query(`ALTER DATABASE ${rows[0]?.name} SET deadlock_timeout = '${PATIENCE.ours}'`);
    await client.query(CLASH);
  });
  database = new Database({ url, maxConnections: 2, log: SILENT_LOG });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

describe("the victim of a deadlock is retried:", () => {
  test("a statement that is sent as it is", async () => {
    const rows = await inDeadlock((text) => database.rows({ text, values: [] }));

    expect(rows).toHaveLength(1);
  });

  test("a transaction with such a statement in it", async () => {
    let tries = 0;

    const rows = await inDeadlock((text) =>
      database.transaction(async (tx) => {
        tries += 1;
        return tx.$queryRawUnsafe<unknown[]>(text);
      }),
    );

    expect(rows).toHaveLength(1);
    expect(tries).toBe(2);
  });
});

test.each([
  ["a statement that is sent as it is", 3, () => database.rows({ text: "SELECT clash()", values: [] })],
  ["a transaction", 3, () => database.transaction((tx) => tx.$queryRaw`SELECT clash()`)],
  [
    "a query, which may be more than one statement,",
    1,
    () => database.query((tx) => tx.$queryRaw`SELECT clash()`),
  ],
] as const)(
  "%s that is always the deadlock victim fails as unavailable after %i tries",
  async (_, tries, work) => {
    const before = await clashes();

    await expect(work()).rejects.toMatchObject({ code: "resource_unavailable" });

    expect((await clashes()) - before).toBe(tries);
  },
);

async function clashes(): Promise<number> {
  const rows = await database.rows<{ count: number }>({
    text: "SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS count FROM clashes",
    values: [],
  });
  return rows[0]?.count ?? 0;
}

/** `work` takes three locks in sequence and meets a transaction that has the third and wants the first. */
function inDeadlock<T>(work: (text: string) => Promise<T>): Promise<T> {
  return atOnce(async (semaphore, rival) => {
    await semaphore.query("SELECT pg_advisory_lock(2)");
    await rival.query(`SET deadlock_timeout = '${PATIENCE.theirs}'`);
    await rival.query("BEGIN; SELECT pg_advisory_xact_lock(3)");
    const [result] = await Promise.all([work(TAKE_LOCKS), close(semaphore, rival)]);
    return result;
  });
}

/** Completes the deadlock. The second lock delays `work` until the rival waits. */
async function close(semaphore: Client, rival: Client): Promise<void> {
  await waiting(semaphore, 1);
  const rivalry = rival.query("SELECT pg_advisory_xact_lock(1); COMMIT");
  await waiting(semaphore, 2);
  await semaphore.query("SELECT pg_advisory_unlock(2)");
  await rivalry;
}

function atOnce<T>(work: (one: Client, other: Client) => Promise<T>): Promise<T> {
  const { url } = testDatabase;
  return withConnection(url, SESSION, (one) => withConnection(url, SESSION, (other) => work(one, other)));
}

async function waiting(client: Client, count: number): Promise<void> {
  await waitFor(async () => (await client.query(WAITING)).rowCount === count, {
    what: `${count} to wait for a lock`,
  });
}
