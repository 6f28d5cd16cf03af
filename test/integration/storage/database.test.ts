import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { StorageUnavailable } from "../../../src/core/basics/errors.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const SETTINGS = `
  SELECT current_setting('jit') AS jit, current_setting('max_parallel_workers_per_gather') AS workers`;

test("no statement uses JIT compilation or parallel workers, which take longer than the statement", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());

  expect(await database.rows({ text: SETTINGS, values: [] })).toEqual([{ jit: "off", workers: "0" }]);
});

test("blobs are stored uncompressed, so that a piece is read without those before it", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());
  const blobs = createPrismaBlobStore(database, systemClock);
  const bytes = Buffer.alloc(2 ** 20, "a line of a log\n");

  const id = await blobs.put(bytes);

  const size = { text: "SELECT pg_column_size(bytes) AS size FROM blobs WHERE id = $1::uuid", values: [id] };
  expect(await database.rows(size)).toEqual([{ size: bytes.length }]);
  expect(bytes.equals(await blobs.get(id))).toBe(true);
});

test("the hash and the length of a blob of an earlier release are computed", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());
  const blobs = createPrismaBlobStore(database, systemClock);
  const id = await blobs.put(Buffer.from("bytes"));
  const hash = await blobs.sha256(id);

  await database.rows({ text: "UPDATE blobs SET size_bytes = NULL, sha256 = NULL", values: [] });

  expect(await blobs.sha256(id)).toBe(hash);
  expect(await blobs.get(id)).toHaveLength(5);
});

describe("a copy into a table that is not completed", () => {
  const COPY = "COPY lines (line) FROM STDIN";
  let database: Database;
  let testDatabase: TestDatabase;
  const count = () => database.rows({ text: "SELECT count(*)::int AS lines FROM lines", values: [] });

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const { url } = testDatabase;
    database = new Database({ url, maxConnections: 1, statementMs: 1_000, log: SILENT_LOG });
    await database.rows({ text: "CREATE TABLE lines (line text)", values: [] });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });
  afterEach(async () => expect(await count()).toEqual([{ lines: 0 }]));

  test("stores nothing when the server refuses a row", async () => {
    await expect(database.copyIn(COPY, [Buffer.from("one\ntwo\tfields\n")])).rejects.toMatchObject({
      code: "22P04",
    });
  });

  test("stores nothing when it takes too long", async () => {
    await expect(database.copyIn(COPY, endless())).rejects.toMatchObject({ code: "resource_unavailable" });
  });

  test("stores nothing when its connection is lost", async () => {
    const copied = database.copyIn(COPY, endless());
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1";

    await Promise.all([
      expect(copied).rejects.toBeInstanceOf(StorageUnavailable),
      waitFor(() => endsOne(testDatabase.url, end, COPY), { what: "the copy to begin" }),
    ]);
  });
});

async function endsOne(url: string, end: string, query: string): Promise<boolean> {
  const options = { applicationName: "errand tests", queryLimitMs: 5_000 };
  return withConnection(url, options, async (client) => (await client.query(end, [query])).rowCount === 1);
}

function* endless(): Iterable<Uint8Array> {
  for (;;) {
    yield Buffer.alloc(10_000, "a line\n").subarray(0, 7_000);
  }
}

describe("an error of the database is judged by its code alone:", () => {
  let database: Database;
  let testDatabase: TestDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new Database({
      url: testDatabase.url,
      maxConnections: 1,
      statementMs: 1_000,
      log: SILENT_LOG,
    });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  const ways = (code: string) => {
    const text = `DO $$ BEGIN RAISE EXCEPTION 'ein Text' USING ERRCODE = '${code}'; END $$`;
    return [
      database.rows({ text, values: [] }),
      database.query((client) => client.$executeRawUnsafe(text)),
      database.transaction((tx) => tx.$executeRawUnsafe(text)),
    ];
  };

  test.each([
    ...["08000", "08001", "08003", "08004", "08006", "08P01", "28000", "28P01", "3D000"],
    ...["53000", "53100", "53200", "53300", "53400", "57P01", "57P02", "57P03", "57P04", "57P05"],
    ...["58000", "58030", "25006", "25P03", "25P04", "40003"],
  ])("the error code %s means that the storage cannot be used now", async (code) => {
    for (const way of ways(code)) {
      await expect(way).rejects.toBeInstanceOf(StorageUnavailable);
    }
  });

  test.each(["40001", "40P01", "57014", "55P03"])(
    "the error code %s means that the statement may be repeated, but not for long",
    async (code) => {
      for (const way of ways(code)) {
        const error = await way.catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: "resource_unavailable", retryable: true });
        expect(error).not.toBeInstanceOf(StorageUnavailable);
      }
    },
  );

  test.each(["22012", "23505", "42501", "42P01", "54000", "XX000"])(
    "the error code %s is reported as a bug",
    async (code) => {
      for (const way of ways(code)) {
        await expect(way).rejects.not.toMatchObject({ code: "resource_unavailable" });
      }
    },
  );

  test("a connection that ends, and one that is not free in time, are a storage that cannot be used now", async () => {
    const end = "SELECT pg_terminate_backend(pg_backend_pid())::text";
    const held = Promise.withResolvers<void>();

    const lost = database.transaction(async (tx) => {
      await tx.$queryRawUnsafe(end).catch(() => undefined);
      await tx.$queryRawUnsafe("SELECT 1");
    });
    await expect(lost).rejects.toBeInstanceOf(StorageUnavailable);
    const begun = Promise.withResolvers<void>();
    const holder = database.transaction(() => {
      begun.resolve();
      return held.promise;
    });
    await begun.promise;
    await expect(database.rows({ text: "SELECT 1", values: [] })).rejects.toBeInstanceOf(StorageUnavailable);

    held.resolve();
    await holder;
  });

  test.each(["postgres://nobody@127.0.0.1:1/none", "postgres:///none?host=/nowhere"])(
    "a server that is not there (%s) is a storage that cannot be used now",
    async (url) => {
      const away = new Database({ url, maxConnections: 1, log: SILENT_LOG });
      onTestFinished(() => away.close());

      await expect(away.rows({ text: "SELECT 1", values: [] })).rejects.toBeInstanceOf(StorageUnavailable);
      await expect(away.query((client) => client.team.count())).rejects.toBeInstanceOf(StorageUnavailable);
      await expect(away.transaction((tx) => tx.team.count())).rejects.toBeInstanceOf(StorageUnavailable);
    },
  );
});

test("a probe of a database that can be written to leaves nothing behind", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());

  expect(await database.unusable()).toBeUndefined();

  const tables = "SELECT relname FROM pg_class WHERE relname LIKE 'errand_write_probe%'";
  expect(await database.rows({ text: tables, values: [] })).toEqual([]);
});
