import { readFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import { join } from "node:path";
import { GIBIBYTE } from "../core/basics/byte-units.ts";

/** Memory is short below half a GiB, on small machines below a tenth of what they have. */
const SHORT_BYTES = GIBIBYTE / 2;
const SHORT_SHARE = 0.1;

interface Memory {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

export interface CgroupFiles {
  /** The file that names the cgroups of this process. */
  readonly membership: string;
  /** The directory where the kernel shows all cgroups. */
  readonly root: string;
}

const FILES: CgroupFiles = { membership: "/proc/self/cgroup", root: "/sys/fs/cgroup" };

/** How the kernel names what is needed, in each version of cgroups. */
const VERSIONS = [
  {
    path: /^0::(\/.*)$/m,
    folder: "",
    max: "memory.max",
    current: "memory.current",
    unusedFiles: /^inactive_file (\d+)$/m,
  },
  {
    path: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m,
    folder: "memory",
    max: "memory.limit_in_bytes",
    current: "memory.usage_in_bytes",
    unusedFiles: /^total_inactive_file (\d+)$/m,
  },
] as const;
type Version = (typeof VERSIONS)[number];

/** Whether the machine has little memory left, or a cgroup with a memory limit around this process, such as a container. */
export async function isMemoryShort(
  { membership, root }: CgroupFiles = FILES,
  machine: Memory = { totalBytes: totalmem(), freeBytes: freemem() },
): Promise<boolean> {
  const names = (await read(membership)) ?? "";
  const limited = VERSIONS.flatMap((version) =>
    placesOf(version, names, root).map((place) => memoryOf(version, place)),
  );
  return [machine, ...(await Promise.all(limited))].some(isShort);
}

function isShort(memory: Memory | undefined): boolean {
  return memory !== undefined && memory.freeBytes < Math.min(SHORT_BYTES, memory.totalBytes * SHORT_SHARE);
}

/** The directory of the cgroup of this process and of those around it. */
function placesOf({ folder, path }: Version, membership: string, root: string): readonly string[] {
  const names = path
    .exec(membership)?.[1]
    ?.split("/")
    .filter((name) => name !== "");
  const top = join(root, folder);
  return names === undefined
    ? []
    : [top, ...names.map((_, index) => join(top, ...names.slice(0, index + 1)))];
}

/** Undefined: without a limit. The kernel gives up its copies of files that were not used lately, so they count as free. */
async function memoryOf(version: Version, place: string): Promise<Memory | undefined> {
  const [max, current, stat] = await Promise.all(
    [version.max, version.current, "memory.stat"].map((name) => read(join(place, name))),
  );
  const totalBytes = Number(max);
  if (max === undefined || current === undefined || !Number.isFinite(totalBytes)) {
    return undefined;
  }
  const unusedFiles = Number(version.unusedFiles.exec(stat ?? "")?.[1] ?? 0);
  return { totalBytes, freeBytes: totalBytes - Number(current) + unusedFiles };
}

/** Undefined: there is no such file, for example because the kernel has the other version. */
async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
