import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "./log.ts";
import { commandLineOf } from "./process-table.ts";
import { PostgresStartError } from "./start-error.ts";

const POLL_MS = 20;
const FAST_SHUTDOWN_LIMIT_MS = 20_000;
const IMMEDIATE_SHUTDOWN_LIMIT_MS = 10_000;

/**
 * Ends a server that outlived the process that started it (kill -9). It is not adopted, because its settings and
 * version belong to the old program. Called only under the lock of the data directory, so no other process uses it.
 * A process id in `postmaster.pid` proves nothing, because after a restart of the machine or container it may belong
 * to any process.
 */
export async function stopLeftoverPostmaster(cluster: string, log: Log): Promise<void> {
  const pid = await readPostmasterPid(cluster);
  if (pid === undefined) {
    return;
  }
  if (!(await isPostmasterOf(cluster, pid))) {
    return removeMisleading(join(cluster, "postmaster.pid"), pid);
  }
  log.warn("storage.postgres.orphan_found", { pid, cluster });
  process.kill(pid, "SIGINT");
  if (await hasEnded(cluster, pid, FAST_SHUTDOWN_LIMIT_MS)) {
    return;
  }
  process.kill(pid, "SIGQUIT");
  if (!(await hasEnded(cluster, pid, IMMEDIATE_SHUTDOWN_LIMIT_MS))) {
    throw new PostgresStartError(
      `A PostgreSQL left over from an earlier start (process ${pid}) does not stop: stop it`,
    );
  }
}

async function readPostmasterPid(cluster: string): Promise<number | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : undefined;
}

/**
 * PostgreSQL refuses to start when the process id in its file belongs to any living process, so the file is removed.
 * The server detects remaining children of a dead server without it, by the key of the shared memory.
 */
async function removeMisleading(pidFile: string, pid: number): Promise<void> {
  if (isTaken(pid)) {
    await rm(pidFile, { force: true });
  }
}

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function isPostmasterOf(cluster: string, pid: number): Promise<boolean> {
  return (await commandLineOf(pid)).includes(`postgres -D ${cluster} `);
}

async function hasEnded(cluster: string, pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (await isPostmasterOf(cluster, pid)) {
    if (performance.now() > deadline) {
      return false;
    }
    await delay(POLL_MS);
  }
  return true;
}
