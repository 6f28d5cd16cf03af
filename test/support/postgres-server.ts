import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  chooseServerAccount,
  identityOf,
  makePrivateDirectory,
  type PostgresBinaries,
  type ServerAccount,
  ServerOutput,
} from "@errand/embedded-postgres/parts";
import { SILENT_LOG } from "./logs.ts";
import { findPostgresPrograms } from "./postgres-programs.ts";
import { waitFor } from "./wait-for.ts";

const run = promisify(execFile);
const ENTERABLE = 0o711;

export interface PostgresServer {
  readonly url: string;
  /** Stops the server if it runs, and starts it at the same address. */
  restart(): Promise<void>;
  /** Kills the server with SIGKILL: nothing is flushed, and clients are not notified. */
  kill9(): Promise<void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** For example `max_connections=20`. */
  readonly settings?: readonly string[];
  /** Where the tables are stored, instead of beside the write-ahead log. */
  readonly tables?: string;
}

type Installation = {
  readonly folder: string;
  readonly cluster: string;
  readonly settings: readonly string[];
  readonly account: ServerAccount;
  readonly programs: PostgresBinaries;
};

/** A private PostgreSQL on a free port of the loopback address, for tests that break it. */
export async function startPostgresServer({
  settings = [],
  tables,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "errand-pg-"));
  try {
    await chmod(folder, ENTERABLE);
    const account = await chooseServerAccount(undefined);
    const programs = await findPostgresPrograms(account, folder);
    const cluster = join(tables ?? folder, "cluster");
    const installation = { folder, cluster, settings, account, programs };
    await createCluster(installation);
    return await serve(installation, await findFreePort());
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function createCluster({ folder, cluster, account, programs }: Installation): Promise<void> {
  const log = join(folder, "wal");
  await makePrivateDirectory(cluster, account);
  await makePrivateDirectory(log, account);
  const places = ["-D", cluster, "--waldir", log];
  const parameters = [...places, "-U", "errand", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  const environment = { ...programs.environment, LC_ALL: "C" };
  await run(programs.initdb, parameters, { ...identityOf(account), cwd: "/", env: environment });
}

async function serve(installation: Installation, port: number): Promise<PostgresServer> {
  let server = await startServer(installation, port);
  const end = (signal: NodeJS.Signals) => endServer(server, signal);
  return {
    url: `postgresql://errand@127.0.0.1:${port}/postgres`,
    restart: async () => {
      await end("SIGINT");
      server = await startServer(installation, port);
    },
    kill9: () => end("SIGKILL"),
    stop: async () => {
      await end("SIGINT");
      await rm(installation.folder, { recursive: true, maxRetries: 10 });
    },
  };
}

/** After a kill -9 the children of the old server need a moment to end. Until then a new server refuses to start. */
function startServer(installation: Installation, port: number): Promise<ChildProcess> {
  return waitFor(() => attemptStart(installation, port), { what: "PostgreSQL to start" });
}

async function attemptStart(
  { cluster, settings, account, programs }: Installation,
  port: number,
): Promise<ChildProcess> {
  const place = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_line_prefix="];
  const all = [...place, ...settings].flatMap((setting) => ["-c", setting]);
  const parameters = ["-D", cluster, "-p", String(port), ...all];
  const server = spawn(programs.postgres, parameters, {
    ...identityOf(account),
    cwd: "/",
    env: { ...programs.environment, LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const output = new ServerOutput(server.stderr, SILENT_LOG);
  const failed = once(server, "exit").then(async () => {
    await output.ended;
    throw new Error(output.reason());
  });
  await Promise.race([output.ready, failed]);
  failed.catch(() => undefined);
  return server;
}

async function endServer(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") {
    throw new Error("A TCP server has no port");
  }
  return address.port;
}
