import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "@errand/embedded-postgres";
import type { Client } from "pg";
import { withConnection } from "../../src/storage/connection.ts";
import { type ApiClient, createApiClient } from "../../test/support/api-client.ts";
import { GitHost } from "../../test/support/git-host.ts";
import { listRunProcesses } from "../../test/support/invariants-processes.ts";
import { SILENT_LOG } from "../../test/support/logs.ts";
import { type Service, startService } from "../../test/support/service.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { residentMebibytes } from "../setup/processor-time.ts";
import { continueRun, doWork, KINDS_COUNT, REPOSITORY } from "./work.ts";

const run = promisify(execFile);
const ENTERABLE = 0o711;
const KIBIBYTE = 1_024;
const MEBIBYTE = 2 ** 20;
/** A copy of a workspace is deleted 9 s after its last use, because a day takes minutes here. */
const COPY_HOURS = "0.0025";
const SECRET_KEY = "soak-secret-key-of-the-installation";
const API_KEY = "soak-key-of-the-administrator";
/** No speed is measured, so a wait may take as long as on the slowest machine. */
const PATIENCE_MS = 600_000;
const POLL_MS = 500;
/** How much of the log of each process is shown when the day fails. */
const OUTPUT_LINES = 100;
/** The heaps of the processes grow for a while, without a leak. A day with a leak of 1 MiB a run exceeds this. */
const MEMORY_MIB = 150;
const DISK_MIB = 8;
const DATABASE_MIB = 8;
/** An interrupted turn may leave a file that no run names, which is deleted after an hour. */
const RUNS_PER_ROW = 10;
/** Their rows are kept although the run is deleted. */
const KEPT_TABLES = ["audit_entries", "deleted_run_uses", "idempotent_responses"];

export interface SoakOptions {
  readonly runs: number;
  /** The runs are created at equal distances within this time. */
  readonly seconds: number;
  readonly log: (line: string) => void;
}

/** A quantity before and after the day. */
export interface SoakFigure {
  readonly what: string;
  readonly before: number;
  readonly after: number;
  /** The greatest allowed growth. */
  readonly growth: number;
  readonly unit: string;
}

interface Stage {
  readonly databaseUrl: string;
  readonly dataDirs: readonly string[];
  readonly services: readonly Service[];
  readonly api: ApiClient;
}

type Measured = Record<"disk" | "rows" | "database" | "memory" | "processes", number>;

/**
 * The work of a team's day in a few minutes, on two workers with a disk each. In the end, copies of workspaces are
 * deleted, a run continues without its copy, and after the deletion of the runs nothing of them is left.
 */
export async function soakDay(options: SoakOptions): Promise<readonly SoakFigure[]> {
  await using cleanup = new AsyncDisposableStack();
  const stage = await openStage(cleanup);
  try {
    return await soak(stage, options);
  } catch (error) {
    const lines = stage.services.flatMap((service) => service.output().split("\n").slice(-OUTPUT_LINES));
    throw new Error(`${error instanceof Error ? error.message : error}\n${lines.join("\n")}`, {
      cause: error,
    });
  }
}

async function soak(stage: Stage, options: SoakOptions): Promise<readonly SoakFigure[]> {
  const { log } = options;
  // Mirrors of repositories and the tables of the queue are made once and stay.
  await removeRuns(stage, await doAll(stage, { runs: 2 * KINDS_COUNT, seconds: 1 }));
  const before = await measure(stage);

  const runIds = await doAll(stage, options);
  const full = await measure(stage);
  log(`${runIds.length} runs have ended. The disks of the workers have ${full.disk} MiB.`);
  await waitForDeletedCopies(stage);
  await continueWithoutCopy(stage, runIds);
  await waitForDeletedCopies(stage);
  const stored = await measure(stage);
  log(`The copies of their workspaces are deleted. The database has ${stored.database} MiB.`);
  await removeRuns(stage, runIds);
  const figures = figuresOf(before, await measure(stage), runIds.length);
  for (const figure of figures) {
    const { after, before, unit, what } = figure;
    log(`${what}: ${before} ${unit} before, ${after} ${unit} after${hasGrown(figure) ? ", TOO MUCH" : ""}`);
  }
  return figures;
}

export function hasGrown({ after, before, growth }: SoakFigure): boolean {
  return after - before > growth;
}

async function openStage(cleanup: AsyncDisposableStack): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "errand-soak-")));
  await chmod(folder, ENTERABLE);
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "database"), log: SILENT_LOG });
  cleanup.defer(() => postgres.stop());
  const gitHost = await GitHost.start(REPOSITORY);
  cleanup.defer(() => gitHost.stop());
  const dataDirs = ["one", "two"].map((name) => join(folder, name));
  const services: Service[] = [];
  for (const dataDir of dataDirs) {
    const temporary = join(dataDir, "tmp");
    await mkdir(temporary, { recursive: true });
    const service = await startService(dataDir, {
      ...gitHost.environment,
      DATABASE_URL: postgres.url,
      ERRAND_SECRET_KEY: SECRET_KEY,
      ERRAND_ADMIN_KEY: API_KEY,
      ERRAND_SANDBOX: "local",
      ERRAND_LOCAL_COPY_HOURS: COPY_HOURS,
      TMPDIR: temporary,
      ...(services.length === 0 ? {} : { ERRAND_ROLE: "worker" }),
    });
    services.push(service);
    cleanup.defer(async () => void (await service.end("SIGTERM")));
  }
  const [first] = services;
  if (first === undefined) {
    throw new Error("No service was started.");
  }
  return { databaseUrl: postgres.url, dataDirs, services, api: createApiClient(first) };
}

async function doAll(
  { api }: Stage,
  { runs, seconds }: Pick<SoakOptions, "runs" | "seconds">,
): Promise<readonly string[]> {
  const work: Promise<string>[] = [];
  for (let index = 0; index < runs; index += 1) {
    const done = doWork(api, index, PATIENCE_MS);
    // The failure is reported below, when the other work has begun.
    done.catch(() => undefined);
    work.push(done);
    await pause((seconds * 1_000) / runs);
  }
  return Promise.all(work);
}

/** The copies are deleted although the runs are not. */
function waitForDeletedCopies({ dataDirs }: Stage): Promise<unknown> {
  return waitFor(
    async () => (await Promise.all(dataDirs.map(listCopies))).every((copies) => copies.length === 0),
    { what: "the copies of workspaces to be deleted", timeoutMs: PATIENCE_MS, everyMs: POLL_MS },
  );
}

function listCopies(dataDir: string): Promise<readonly string[]> {
  return readdir(join(dataDir, "runs"));
}

/** The first run of the day has written a note. */
async function continueWithoutCopy({ api }: Stage, [runId = ""]: readonly string[]): Promise<void> {
  await continueRun(api, { runId, message: "read note.txt", patienceMs: PATIENCE_MS });
  const events = JSON.stringify(await api.events(runId));
  if (!events.includes("note.txt has")) {
    throw new Error(`The workspace of run ${runId} was not restored: ${events}`);
  }
}

async function removeRuns(stage: Stage, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    await waitFor(async () => !(await stage.api.getRun(runId)).is_sandbox_running, {
      what: `run ${runId} to release its worker`,
      timeoutMs: PATIENCE_MS,
    });
    const { status, body } = await stage.api.call("DELETE", `/agent/runs/${runId}`);
    if (status !== 204) {
      throw new Error(`The deletion of run ${runId} was answered ${status}: ${JSON.stringify(body)}`);
    }
  }
  await waitForDeletedCopies(stage);
}

async function measure({ databaseUrl, dataDirs, services }: Stage): Promise<Measured> {
  const disk = await Promise.all(dataDirs.map(diskBytes));
  const memory = await Promise.all(services.map(({ pid }) => residentMebibytes(pid)));
  const processes = (await listRunProcesses()).filter(({ environment }) =>
    dataDirs.some((dataDir) => environment.includes(dataDir)),
  );
  const session = { applicationName: "errand soak", queryLimitMs: PATIENCE_MS };
  return {
    ...(await withConnection(databaseUrl, session, measureDatabase)),
    disk: mebibytes(sumOf(disk)),
    memory: Math.round(sumOf(memory)),
    processes: processes.length,
  };
}

async function diskBytes(dataDir: string): Promise<number> {
  const { stdout } = await run("du", ["-sk", dataDir]);
  return Number.parseInt(stdout, 10) * KIBIBYTE;
}

/** Without the space of deleted rows, which PostgreSQL uses for new ones. */
async function measureDatabase(client: Client): Promise<Pick<Measured, "rows" | "database">> {
  await client.query("VACUUM (FULL, ANALYZE)");
  const { rows } = await client.query<{ rows: string; bytes: string }>(
    `SELECT sum(reltuples::bigint) AS rows, sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL ($1::text[])`,
    [KEPT_TABLES],
  );
  return { rows: Number(rows[0]?.rows), database: mebibytes(Number(rows[0]?.bytes)) };
}

function figuresOf(before: Measured, after: Measured, runs: number): readonly SoakFigure[] {
  const figure = (what: string, name: keyof Measured, growth: number, unit: string) => ({
    ...{ what, growth, unit },
    before: before[name],
    after: after[name],
  });
  return [
    figure("disks of the workers", "disk", DISK_MIB, "MiB"),
    figure("database", "rows", runs / RUNS_PER_ROW, "rows"),
    figure("database", "database", DATABASE_MIB, "MiB"),
    figure("memory of the processes", "memory", MEMORY_MIB, "MiB"),
    figure("sandboxes", "processes", 0, "processes"),
  ];
}

function mebibytes(bytes: number): number {
  return Math.round((bytes / MEBIBYTE) * 10) / 10;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
