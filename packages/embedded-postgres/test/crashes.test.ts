import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeDataDirPath, SeedDataDir } from "../../../test/support/data-dir.ts";
import { type RecordedLine, recordingLog, SILENT_LOG } from "../../../test/support/logs.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../src/embedded-postgres.ts";
import { commandLineOf } from "../src/process-table.ts";
import { chooseServerAccount, identityOf } from "../src/server-account.ts";
import { EmbeddedProcess, type EmbeddedProcessOptions } from "./embedded-process.ts";
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

function spawnEmbedded(options: EmbeddedProcessOptions): EmbeddedProcess {
  const embedded = new EmbeddedProcess(options);
  onTestFinished(() => embedded.end());
  return embedded;
}

async function readPostmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8"), 10);
}

async function isAlive(pid: number): Promise<boolean> {
  return (await commandLineOf(pid)) !== "";
}

/** A process of the account that the server has; PostgreSQL does not look at others. */
async function startBystander(): Promise<ChildProcess> {
  const account = await chooseServerAccount(undefined);
  const bystander = spawn("sleep", ["60"], { ...identityOf(account), cwd: "/", stdio: "ignore" });
  onTestFinished(() => {
    bystander.kill();
  });
  await once(bystander, "spawn");
  return bystander;
}

/** A query that does not look up when its server dies. */
async function startBusyQuery(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const counting = client.query("SELECT count(*) FROM generate_series(1, 3000000)");
  onTestFinished(() => counting.then(() => client.end()).catch(() => undefined));
}

test("after kill -9 of the process its server is replaced and every commit is there", async () => {
  const dataDir = await seed.copy();
  const killed = spawnEmbedded({ dataDir });
  await query(await killed.url(), "CREATE TABLE kept AS SELECT 42 AS answer");
  const orphan = await readPostmasterPid(dataDir);
  await killed.end("SIGKILL");
  expect(await isAlive(orphan)).toBe(true);

  const server = await start(dataDir);

  expect(await query(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect(await isAlive(orphan)).toBe(false);
  expect(await readPostmasterPid(dataDir)).not.toBe(orphan);
});

test("after kill -9 of process and server with a query at work a start finds every commit", async () => {
  const dataDir = await seed.copy();
  const killed = spawnEmbedded({ dataDir });
  const url = await killed.url();
  await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await startBusyQuery(url);
  await killed.end("SIGKILL");
  process.kill(await readPostmasterPid(dataDir), "SIGKILL");

  const server = await start(dataDir);

  expect(await query(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("a server killed under a living process is started again at the same address", async () => {
  const dataDir = await seed.copy();
  const lines: RecordedLine[] = [];
  const server = await startEmbeddedPostgres({ dataDir, log: recordingLog(lines) });
  onTestFinished(() => server.stop());
  await query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  const pid = await readPostmasterPid(dataDir);

  process.kill(pid, "SIGKILL");

  const rows = await waitFor(() => query(server.url, "SELECT answer FROM kept"), { what: "an answer" });
  expect(rows).toEqual([{ answer: 42 }]);
  expect(await readPostmasterPid(dataDir)).not.toBe(pid);
  expect(lines).toContainEqual({ level: "warn", message: "storage.postgres.died", facts: { pid } });
});

test("a server that cannot be started again is an error in the log each time, until it can", async () => {
  const dataDir = await seed.copy();
  const lines: RecordedLine[] = [];
  const server = await startEmbeddedPostgres({ dataDir, log: recordingLog(lines) });
  onTestFinished(() => server.stop());
  const pid = await readPostmasterPid(dataDir);
  const version = join(dataDir, "postgres/PG_VERSION");

  await rename(version, `${version}.lost`);
  process.kill(pid, "SIGKILL");
  const failure = () => lines.find(({ message }) => message === "storage.postgres.restart_failed");
  const { level } = await waitFor(failure, { what: "a failed start" });
  await rename(`${version}.lost`, version);

  expect(level).toBe("error");
  const rows = await waitFor(() => query(server.url, "SELECT 1 AS one"), { what: "an answer" });
  expect(rows).toEqual([{ one: 1 }]);
});

test("a leftover file that names a living process of another program is no obstacle", async () => {
  const dataDir = await seed.copy();
  const first = await start(dataDir);
  await first.stop();
  const bystander = await startBystander();
  const pidFile = `${bystander.pid}\n${join(dataDir, "postgres")}\n1700000000\n5432\n\n\n`;
  await writeFile(join(dataDir, "postgres/postmaster.pid"), pidFile);

  const second = await start(dataDir);

  expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(await isAlive(bystander.pid ?? 0)).toBe(true);
});

test("a second process on the same data directory is refused in one line that names the first", async () => {
  const dataDir = await seed.copy();
  const first = spawnEmbedded({ dataDir });
  const url = await first.url();

  const second = spawnEmbedded({ dataDir });

  const { error } = await second.answer();
  expect(error).toMatch(
    /^PostgresStartError: The data directory is in use by another Errand \(process (\d+), /,
  );
  expect(error).toContain(`process ${first.child.pid}, `);
  expect(error).not.toContain("\n");
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("of two processes that start at once on a new data directory one serves and one is refused", async () => {
  const dataDir = await makeDataDirPath();

  const processes = [spawnEmbedded({ dataDir }), spawnEmbedded({ dataDir })];

  const answers = await Promise.all(processes.map((each) => each.answer()));
  expect(answers.filter(({ url }) => url !== undefined)).toHaveLength(1);
  expect(answers.filter(({ error }) => error?.includes("in use by another Errand"))).toHaveLength(1);
});

test("Ctrl-C leaves the database to the process until it has finished", async () => {
  const dataDir = await seed.copy();
  const embedded = spawnEmbedded({ dataDir, detached: true });
  await embedded.url();
  const pid = await readPostmasterPid(dataDir);

  process.kill(-(embedded.child.pid ?? 0), "SIGINT");

  expect(await embedded.answer()).toEqual({ lastWords: "served" });
  await waitFor(async () => !(await isAlive(pid)), { what: "the server to stop" });
});

test("a process that ends without stopping takes its server along", async () => {
  const dataDir = await seed.copy();
  const embedded = spawnEmbedded({ dataDir });
  await embedded.url();
  const pid = await readPostmasterPid(dataDir);

  embedded.child.send("exit");

  await waitFor(async () => !(await isAlive(pid)), { what: "the server to stop" });
});
