import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { PostgresBinaries } from "./binaries.ts";
import type { ClusterPlace } from "./cluster-place.ts";
import type { Log } from "./log.ts";
import type { StartProgram } from "./programs.ts";
import { identityOf } from "./server-account.ts";
import { ServerOutput } from "./server-output.ts";
import { SOCKET_PORT } from "./socket-directory.ts";
import { PostgresStartError } from "./start-error.ts";

/** A running server. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason; never rejects. */
  readonly ended: Promise<void>;
  /** A fast shutdown: open transactions are rolled back and connections closed. Can be repeated. */
  stop(): Promise<void>;
}

export interface PostmasterOptions {
  readonly place: ClusterPlace;
  readonly binaries: PostgresBinaries;
  readonly socketDirectory: string;
  readonly startProgram: StartProgram;
  readonly log: Log;
}

type FailedStart = { readonly reason: string; readonly isStillInUse: boolean };

const SETTINGS = {
  listen_addresses: "",
  port: String(SOCKET_PORT),
  unix_socket_permissions: "0700",
  shared_buffers: "32MB",
  max_connections: "100",
  fsync: "on",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  // Errors of single statements are reported to the client. The log is only for the server itself.
  log_min_messages: "log",
  log_checkpoints: "off",
} as const;

const RETRY_MS = 100;
/** How long the children of a killed server may take to notice before the start gives up. */
const STILL_IN_USE_LIMIT_MS = 30_000;
const FAST_SHUTDOWN_LIMIT_MS = 20_000;

/** Returns when the server accepts connections, however long the recovery after a crash takes. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + STILL_IN_USE_LIMIT_MS;
  for (;;) {
    const attempt = await attemptStart(options);
    if ("pid" in attempt) {
      return attempt;
    }
    if (!attempt.isStillInUse || performance.now() > deadline) {
      throw new PostgresStartError(
        `The embedded PostgreSQL does not start (${attempt.reason}): repair that, or set DATABASE_URL to a PostgreSQL 15 or newer`,
      );
    }
    await delay(RETRY_MS);
  }
}

async function attemptStart(options: PostmasterOptions): Promise<Postmaster | FailedStart> {
  const child = spawnServer(options);
  const output = new ServerOutput(child.stderr, options.log);
  const ended = endOf(child);
  const failure = await Promise.race([output.ready, ended.then((error) => ({ error }))]);
  if (failure || child.pid === undefined) {
    await output.ended;
    return {
      reason: failure?.error?.message ?? output.reason(),
      isStillInUse: output.mentions("pre-existing shared memory block"),
    };
  }
  return handleOf(child, child.pid, output, ended);
}

/**
 * A process group of its own, because the terminal's Ctrl-C is for us and we still need the database to finish. Our
 * environment is not passed on, because it may contain keys.
 */
function spawnServer({
  place,
  binaries,
  socketDirectory,
  startProgram,
}: PostmasterOptions): ChildProcessWithoutNullStreams {
  const settings = { ...SETTINGS, unix_socket_directories: quoteListItem(socketDirectory) };
  const parameters = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = startProgram(binaries.postgres, ["-D", place.cluster, ...parameters], {
    ...identityOf(place.account),
    cwd: "/",
    detached: true,
    env: { ...binaries.environment, LC_ALL: "C" },
  });
  child.stdin.on("error", () => undefined).end();
  child.stdout.resume();
  return child;
}

function handleOf(child: ChildProcess, pid: number, output: ServerOutput, end: Promise<unknown>): Postmaster {
  const ended = end.then(() => undefined);
  const stopWithUs = () => child.kill("SIGINT");
  process.once("exit", stopWithUs);
  ended.then(() => process.off("exit", stopWithUs));
  let stopping: Promise<void> | undefined;
  const stop = () => {
    output.quieten();
    stopping ??= shutDown(child, ended);
    return stopping;
  };
  return { pid, ended, stop };
}

async function shutDown(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGQUIT"), FAST_SHUTDOWN_LIMIT_MS);
  await ended;
  clearTimeout(timer);
}

/** Why the process could not be started; undefined when it ran and ended. */
function endOf(child: ChildProcess): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", () => resolve(undefined));
  });
}

/** The setting is a comma-separated list. */
function quoteListItem(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
