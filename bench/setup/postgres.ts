import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { chooseServerAccount, identityOf, makePrivateDirectory } from "@errand/embedded-postgres/parts";
import pg from "pg";
import { findPostgresPrograms } from "../../test/support/postgres-programs.ts";
import { type Child, startChild } from "./child.ts";

const run = promisify(execFile);
const ENTERABLE = 0o711;

/** All other settings keep their defaults, so every commit reaches the disk. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  // Gives the time from which a row was visible to others.
  track_commit_timestamp: "on",
  // Loaded, but inactive until a figure asks for plans.
  session_preload_libraries: "auto_explain",
  "auto_explain.log_format": "json",
};

/** A PostgreSQL server for the benchmark only: that of the machine, otherwise the embedded one. */
export interface Postgres {
  readonly child: Child;
  readonly version: string;
  /** The server's output, which includes logged plans. */
  readonly outputFile: string;
  /** The address of a database. It is created if it does not exist. */
  database(name: string): Promise<string>;
}

export async function startPostgres(folder: string): Promise<Postgres> {
  const home = join(folder, "postgres");
  await mkdir(home);
  await Promise.all([chmod(folder, ENTERABLE), chmod(home, ENTERABLE)]);
  const account = await chooseServerAccount(undefined);
  const programs = await findPostgresPrograms(account, home);
  const environment = { ...programs.environment, LC_ALL: "C" };
  const cluster = join(home, "cluster");
  await makePrivateDirectory(cluster, account);
  const making = ["-D", cluster, "-U", "errand", "-A", "trust", "-E", "UTF8", "--locale=C"];
  await run(programs.initdb, making, { ...identityOf(account), cwd: "/", env: environment });
  const port = await findFreePort();
  const outputFile = join(home, "output.txt");
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = await startChild({
    program: programs.postgres,
    parameters: ["-D", cluster, "-p", String(port), ...settings],
    environment,
    account: identityOf(account),
    outputFile,
    ready: /ready to accept connections/,
    stopSignal: "SIGINT",
  });
  const addressOf = (name: string) => `postgresql://errand@127.0.0.1:${port}/${name}`;
  const [{ version = "" } = {}] = await query<{ version: string }>(addressOf("postgres"), "SELECT version()");
  return { child, version, outputFile, database: (name) => ensureDatabase(addressOf, name) };
}

async function ensureDatabase(addressOf: (name: string) => string, name: string): Promise<string> {
  const rows = await query(addressOf("postgres"), "SELECT FROM pg_database WHERE datname = $1", [name]);
  if (rows.length === 0) {
    await query(addressOf("postgres"), `CREATE DATABASE ${name}`);
  }
  return addressOf(name);
}

/** Runs one statement, or several without values, on a connection of its own. */
export async function query<Row extends object = Record<string, unknown>>(
  url: string,
  text: string,
  values?: readonly unknown[],
): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  await client.connect();
  try {
    return (await client.query<Row>(text, values === undefined ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}

export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
