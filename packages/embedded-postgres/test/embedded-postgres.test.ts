import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeDataDirPath, SeedDataDir } from "../../../test/support/data-dir.ts";
import { SILENT_LOG } from "../../../test/support/logs.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../src/embedded-postgres.ts";
import { query } from "./query.ts";

let seed: SeedDataDir;

beforeAll(async () => {
  seed = await SeedDataDir.make();
});

afterAll(() => seed.remove());

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: SILENT_LOG });
  onTestFinished(() => server.stop());
  return server;
}

test("the database is durable, UTF-8, and reached by a private socket only", async () => {
  const dataDir = await seed.copy();

  const server = await start(dataDir);

  const [settings] = await query(
    server.url,
    `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses,
            current_setting('server_encoding') AS encoding, current_setting('max_connections') AS connections,
            current_setting('shared_buffers') AS buffers, current_setting('data_directory') AS directory,
            (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS locale`,
  );
  expect(settings).toEqual({
    fsync: "on",
    addresses: "",
    encoding: "UTF8",
    connections: "100",
    buffers: "32MB",
    directory: join(dataDir, "postgres"),
    locale: "C",
  });
  const socketDirectory = new URL(server.url).searchParams.get("host") ?? "";
  expect((await stat(socketDirectory)).mode & 0o777).toBe(0o700);
});

test("data outlives a stop and a start, and stopping twice is harmless", async () => {
  const dataDir = await seed.copy();
  const first = await start(dataDir);
  await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await Promise.all([first.stop(), first.stop()]);
  await expect(query(first.url, "SELECT 1")).rejects.toThrow("ENOENT");

  const second = await start(dataDir);

  expect(await query(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("a start that was killed half-way through making the database does not hinder the next", async () => {
  const dataDir = await makeDataDirPath();
  await mkdir(join(dataDir, "postgres.new/base"), { recursive: true });
  await writeFile(join(dataDir, "postgres.new/PG_VERSION"), "18\n");

  const server = await start(dataDir);

  expect(await query(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(await readdir(dataDir)).not.toContain("postgres.new");
});

test("a path that is too long for a socket and full of odd characters works, and leaves nothing behind", async () => {
  const dataDir = await seed.copy(`a, "b" 'c' %41 +ü ${"long".repeat(20)}`);

  const server = await start(dataDir);

  expect(await query(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  const socketDirectory = new URL(server.url).searchParams.get("host") ?? "";
  expect(socketDirectory).not.toContain("long");
  await server.stop();
  await expect(stat(socketDirectory)).rejects.toThrow("ENOENT");
});

test("a database of another major version is refused with the way out", async () => {
  const dataDir = await makeDataDirPath();
  await mkdir(join(dataDir, "postgres"), { recursive: true });
  await writeFile(join(dataDir, "postgres/PG_VERSION"), "9\n");

  const starting = startEmbeddedPostgres({ dataDir, log: SILENT_LOG });

  await expect(starting).rejects.toThrow(/made by PostgreSQL 9, this Errand brings 18: .*DATABASE_URL/);
});
