import { randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { runProgram } from "../child-process/run-program.ts";
import { KIBIBYTE } from "../core/basics/byte-units.ts";
import type { Log } from "../core/basics/log.ts";

const LIMIT_MS = 10_000;
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Mount options of ext4 and XFS. */
const PROJECT_QUOTA = /(^|,)(prjquota|pquota)(,|$)/;
/** Operators and Docker number their projects from 1. */
const FIRST_PROJECT = 2 ** 30;
/** The quota is larger than the limit, so that a measurement can find a workspace above the limit and end the run. */
const MARGIN = 1.1;

/** Limits what a directory may contain, if the file system can do that. */
export interface DirectoryQuota {
  /** The directory is empty, and its name is a UUID. What is created in it counts. */
  limit(directory: string): Promise<void>;
}

export interface ProjectQuotaOptions {
  readonly dataDir: string;
  /** The size above which a run fails. */
  readonly maxBytes: number;
  readonly log: Log;
}

/**
 * The project quotas of ext4 and XFS, if the file system of the data directory is mounted with them and this process may
 * set them. Otherwise undefined: the size of a workspace is only measured.
 */
export async function findProjectQuota({
  dataDir,
  log,
  maxBytes,
}: ProjectQuotaOptions): Promise<DirectoryQuota | undefined> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const mountPoint = findQuotaMount(await readMounts(), await realpath(dataDir));
  if (mountPoint === undefined) {
    return undefined;
  }
  const quota = projectQuotaOf(mountPoint, Math.ceil(maxBytes * MARGIN));
  const probe = join(dataDir, randomUUID());
  try {
    await mkdir(probe, { mode: 0o700 });
    await quota.limit(probe);
    log.info("workspace.quota.used", { mountPoint });
    return quota;
  } catch (error) {
    log.warn("workspace.quota.not_used", { mountPoint, error });
    return undefined;
  } finally {
    await rmdir(probe);
  }
}

function projectQuotaOf(mountPoint: string, maxBytes: number): DirectoryQuota {
  const hardLimit = String(Math.ceil(maxBytes / KIBIBYTE));
  return {
    async limit(directory) {
      const project = String(projectOf(basename(directory)));
      await call("chattr", ["-p", project, "+P", directory]);
      await call("setquota", ["-P", project, "0", hardLimit, "0", "0", mountPoint]);
    },
  };
}

/** The end of a UUID is random. Two directories of one number would share their limit. */
function projectOf(uuid: string): number {
  return FIRST_PROJECT + (Number.parseInt(uuid.slice(-8), 16) % FIRST_PROJECT);
}

/** The mount point of the file system with this directory, if it is mounted with project quotas. */
export function findQuotaMount(mountInfo: string, directory: string): string | undefined {
  const [mount] = mountInfo
    .split("\n")
    .map(parseMount)
    .filter(({ point }) => point === "/" || `${directory}/`.startsWith(`${point}/`))
    // Of mounts at the same place, the last one is visible.
    .toReversed()
    .sort((left, right) => right.point.length - left.point.length);
  return mount !== undefined && PROJECT_QUOTA.test(mount.options) ? mount.point : undefined;
}

/** A line is `id parent device root point options [more]... - type source super-options`: man 5 proc. */
function parseMount(line: string): { readonly point: string; readonly options: string } {
  const [mount = "", fileSystem = ""] = line.split(" - ");
  const point = mount.split(" ")[4] ?? "";
  const unescaped = point.replace(/\\([0-7]{3})/g, (_, octal) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return { point: unescaped, options: fileSystem.split(" ")[2] ?? "" };
}

/** Other systems than Linux have no such file. */
function readMounts(): Promise<string> {
  return readFile("/proc/self/mountinfo", "utf8").catch(() => "");
}

async function call(program: string, args: readonly string[]): Promise<void> {
  await runProgram(program, args, { timeoutMs: LIMIT_MS, env: { PATH: SYSTEM_PATH, LC_ALL: "C" } });
}
