import { access, constants, mkdir, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { prepareBinaries } from "./binaries.ts";
import { ensureCluster } from "./cluster.ts";
import { linkCluster, placeCluster, setStrangerAside } from "./cluster-place.ts";
import { type DataDirLock, lockDataDir } from "./data-dir-lock.ts";
import { ensureDatabase } from "./database.ts";
import { stopLeftoverPostmaster } from "./leftover-postmaster.ts";
import type { Log } from "./log.ts";
import { type StartProgram, spawnProgram } from "./programs.ts";
import { prepareSocketDirectory } from "./socket-directory.ts";
import { PostgresStartError } from "./start-error.ts";
import { type SupervisedServer, superviseServer } from "./supervisor.ts";

export type { Log } from "./log.ts";
export type { StartOptions, StartProgram } from "./programs.ts";
export { PostgresStartError } from "./start-error.ts";

const PRIVATE_DIRECTORY = 0o700;
const DEFAULT_SHARED_DIR = "/var/lib/errand";

export interface EmbeddedPostgres {
  readonly url: string;
  /** Stops the server and releases the data directory. Can be repeated. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Used only by root, for files that another account must reach. Default: `/var/lib/errand`. */
  readonly sharedDir?: string;
  /**
   * How to start a program. Default: `spawn` of Node, which passes on every descriptor that this process inherited
   * itself.
   */
  readonly startProgram?: StartProgram;
}

/**
 * Starts the PostgreSQL from npm on a private unix socket, with its files in `<dataDir>/postgres` (`placeCluster`
 * describes the exception). First removes what a killed process left. A server that dies is started again.
 * Throws `PostgresStartError` when this system cannot run it or another process uses the data directory.
 */
export async function startEmbeddedPostgres({
  dataDir: path,
  log,
  sharedDir = DEFAULT_SHARED_DIR,
  startProgram = spawnProgram,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = await makeDataDir(path);
  const place = await placeCluster(dataDir, sharedDir, startProgram);
  const lock = lockDataDir(place.home);
  try {
    const linksDir = join(place.home, "postgres.libraries");
    const binaries = await prepareBinaries(place.account, { sharedDir, linksDir, startProgram });
    await setStrangerAside(dataDir, place, log);
    await ensureCluster(place, binaries, startProgram);
    await linkCluster(dataDir, place, log);
    await stopLeftoverPostmaster(place.cluster, log);
    const socketDirectory = await prepareSocketDirectory(place);
    const server = await superviseServer({ place, binaries, socketDirectory, log, startProgram });
    return await openDatabase(server, socketDirectory, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function makeDataDir(path: string): Promise<string> {
  try {
    await mkdir(dirname(resolve(path)), { recursive: true });
    await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostgresStartError(`The data directory ${path} cannot be used: ${reason}`, { cause });
  }
}

async function openDatabase(
  server: SupervisedServer,
  socketDirectory: string,
  lock: DataDirLock,
): Promise<EmbeddedPostgres> {
  const close = async () => {
    await server.stop();
    await rm(socketDirectory, { recursive: true, force: true });
    lock.release();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= close();
    return stopped;
  };
  try {
    return { url: await ensureDatabase(socketDirectory), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
