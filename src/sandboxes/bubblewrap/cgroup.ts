import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isOrphan } from "../linux-processes.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";

export const CONTROLLERS = ["memory", "cpu", "pids"] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** A directory of the kernel's cgroup file system in which we may create cgroups with these controllers. */
export interface CgroupParent {
  readonly version: 1 | 2;
  readonly directory: string;
  readonly controllers: readonly Controller[];
}

/** A file of a cgroup and its content. `isOptional`: some kernels do not have it. */
export interface CgroupSetting {
  readonly file: string;
  readonly value: string;
  readonly isOptional?: boolean;
}

const PERIOD_US = 100_000;

function settingsOf({ controllers, version }: CgroupParent, limits: SandboxLimits): CgroupSetting[] {
  const all = version === 1 ? versionOne(limits) : versionTwo(limits);
  return controllers.flatMap((controller) => all[controller]);
}

function versionOne({ cpus, memoryBytes, processes }: SandboxLimits): Record<Controller, CgroupSetting[]> {
  const memory = String(memoryBytes);
  return {
    memory: [
      { file: "memory.limit_in_bytes", value: memory },
      { file: "memory.memsw.limit_in_bytes", value: memory, isOptional: true },
    ],
    cpu: [
      { file: "cpu.cfs_period_us", value: String(PERIOD_US) },
      { file: "cpu.cfs_quota_us", value: String(Math.round(cpus * PERIOD_US)) },
    ],
    pids: [{ file: "pids.max", value: String(processes) }],
  };
}

function versionTwo({ cpus, memoryBytes, processes }: SandboxLimits): Record<Controller, CgroupSetting[]> {
  return {
    memory: [
      { file: "memory.max", value: String(memoryBytes) },
      { file: "memory.swap.max", value: "0", isOptional: true },
    ],
    cpu: [{ file: "cpu.max", value: `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}` }],
    pids: [{ file: "pids.max", value: String(processes) }],
  };
}

/** The directories where cgroups can be created. Each controller is in at most one of them. */
export async function findCgroupParents(): Promise<readonly CgroupParent[]> {
  const parents: CgroupParent[] = [];
  for (const candidate of await listCandidates()) {
    const taken = new Set(parents.flatMap(({ controllers }) => controllers));
    const controllers = candidate.controllers.filter((controller) => !taken.has(controller));
    if (controllers.length > 0 && (await canMakeCgroups(candidate))) {
      parents.push({ ...candidate, controllers });
    }
  }
  return parents;
}

async function listCandidates(): Promise<readonly CgroupParent[]> {
  const [membership, mounts] = await Promise.all([read("/proc/self/cgroup"), read("/proc/self/mounts")]);
  const paths = membership.split("\n").map((line) => {
    const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return { names: names.split(","), path };
  });
  const candidates = mounts.split("\n").map((line) => {
    const [, mountPoint = "", type = "", options = ""] = line.split(" ");
    if (type === "cgroup") {
      return versionOneParents(mountPoint, options.split(","), paths);
    }
    return type === "cgroup2" ? versionTwoParents(mountPoint, paths) : [];
  });
  return (await Promise.all(candidates)).flat();
}

type Paths = readonly { readonly names: readonly string[]; readonly path: string }[];

function versionOneParents(mountPoint: string, options: readonly string[], paths: Paths): CgroupParent[] {
  const controllers = CONTROLLERS.filter((controller) => options.includes(controller));
  if (controllers.length === 0) {
    return [];
  }
  const own = paths.find(({ names }) => names.some((name) => controllers.some((each) => each === name)));
  // Below our own cgroup, so that our limits apply to agents too. In a container the path is that of the host.
  const directory = join(mountPoint, own?.path ?? "/");
  return [{ version: 1, directory: existsSync(directory) ? directory : mountPoint, controllers }];
}

/**
 * A cgroup with processes cannot pass controllers to cgroups below it, and our own contains this process. So the
 * nearest cgroup above that passes them is used: that of the service, if it is delegated with a subgroup, or its
 * slice.
 */
async function versionTwoParents(mountPoint: string, paths: Paths): Promise<CgroupParent[]> {
  const own = paths.find(({ names }) => names.join() === "")?.path ?? "/";
  const parents: CgroupParent[] = [];
  for (const directory of upwards(join(mountPoint, own), mountPoint)) {
    await handOnControllers(directory);
    const enabled = (await read(join(directory, "cgroup.subtree_control"))).trim().split(" ");
    const controllers = CONTROLLERS.filter((controller) => enabled.includes(controller));
    if (controllers.length > 0) {
      parents.push({ version: 2, directory, controllers });
    }
    if (controllers.length === CONTROLLERS.length) {
      break;
    }
  }
  return parents;
}

function upwards(from: string, to: string): readonly string[] {
  const parent = dirname(from);
  return from === to || parent === from || !from.startsWith(to) ? [from] : [from, ...upwards(parent, to)];
}

/**
 * Fails where we lack permission or where there are processes. Memory comes first, because a cgroup with processes
 * can pass the other controllers, which would make the cgroups below it useless.
 */
async function handOnControllers(directory: string): Promise<void> {
  try {
    for (const controller of CONTROLLERS) {
      await writeFile(join(directory, "cgroup.subtree_control"), `+${controller}`);
    }
  } catch {
    // The controllers that were passed are read afterwards.
  }
}

async function canMakeCgroups({ directory, version }: CgroupParent): Promise<boolean> {
  const probe = join(directory, `errand-probe.${crypto.randomUUID()}`);
  try {
    await mkdir(probe);
    const type = version === 1 ? "domain" : (await read(join(probe, "cgroup.type"))).trim();
    await rmdir(probe);
    return type === "domain";
  } catch {
    // Read-only in a container, or owned by another user: the usual case for a worker that is not root.
    return false;
  }
}

async function read(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}

const PREFIX = "errand-";

const REMOVE_EVERY_MS = 10;
const GIVE_UP_MS = 5_000;

/** The limits of one sandbox, enforced by the kernel: one directory in each parent. */
export class Cgroup {
  readonly #parents: readonly CgroupParent[];
  readonly #name: string;

  private constructor(parents: readonly CgroupParent[], name: string) {
    this.#parents = parents;
    this.#name = name;
  }

  static async create(
    parents: readonly CgroupParent[],
    marker: string,
    limits: SandboxLimits,
  ): Promise<Cgroup> {
    const cgroup = new Cgroup(parents, PREFIX + marker);
    try {
      for (const parent of parents) {
        await cgroup.#make(parent, limits);
      }
    } catch (error) {
      await cgroup.remove();
      throw error;
    }
    return cgroup;
  }

  /** Processes that this process starts from now on are included. */
  async add(pid: number): Promise<void> {
    for (const parent of this.#parents) {
      await writeFile(join(this.#directoryIn(parent), "cgroup.procs"), String(pid));
    }
  }

  /** The number of processes that were killed because the memory limit was reached. */
  async memoryKills(): Promise<number> {
    const parent = this.#parents.find(({ controllers }) => controllers.includes("memory"));
    if (parent === undefined) {
      return 0;
    }
    const file = parent.version === 1 ? "memory.oom_control" : "memory.events";
    const text = await readFile(join(this.#directoryIn(parent), file), "utf8").catch(() => "");
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Works once the processes are gone. */
  async remove(): Promise<void> {
    await Promise.all(this.#parents.map((parent) => removeCgroup(this.#directoryIn(parent))));
  }

  async #make(parent: CgroupParent, limits: SandboxLimits): Promise<void> {
    const directory = this.#directoryIn(parent);
    await mkdir(directory);
    for (const setting of settingsOf(parent, limits)) {
      await applySetting(directory, setting);
    }
  }

  #directoryIn(parent: CgroupParent): string {
    return join(parent.directory, this.#name);
  }
}

/** Removes the cgroups of killed workers, because cgroups outlive their processes. */
export async function sweepCgroups(parents: readonly CgroupParent[], dataDir: string): Promise<void> {
  for (const { directory } of parents) {
    for (const name of await readdir(directory)) {
      const marker = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : "";
      if (await isOrphan(marker, dataDir)) {
        await removeCgroup(join(directory, name));
      }
    }
  }
}

async function applySetting(directory: string, { file, isOptional, value }: CgroupSetting): Promise<void> {
  try {
    await writeFile(join(directory, file), value);
  } catch (error) {
    if (isOptional !== true) {
      throw error;
    }
  }
}

/** Killed processes stay in the cgroup until the kernel has removed them. */
async function removeCgroup(directory: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      await rmdir(directory);
      return;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ENOENT") {
        return;
      }
      if (code !== "EBUSY" || performance.now() > deadline) {
        throw error;
      }
    }
    await setTimeout(REMOVE_EVERY_MS);
  }
}
