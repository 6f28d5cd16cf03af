import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isOrphan } from "../marked-processes.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { type CgroupPlace, type CgroupSetting, settingsOf } from "./cgroup-places.ts";

const PREFIX = "errand-";

const REMOVE_EVERY_MS = 10;
const GIVE_UP_MS = 5_000;

/** The limits of one sandbox, enforced by the kernel: one directory in each place. */
export class Cgroup {
  readonly #places: readonly CgroupPlace[];
  readonly #name: string;

  private constructor(places: readonly CgroupPlace[], name: string) {
    this.#places = places;
    this.#name = name;
  }

  static async create(
    places: readonly CgroupPlace[],
    marker: string,
    limits: SandboxLimits,
  ): Promise<Cgroup> {
    const cgroup = new Cgroup(places, PREFIX + marker);
    try {
      for (const place of places) {
        await cgroup.#make(place, limits);
      }
    } catch (error) {
      await cgroup.remove();
      throw error;
    }
    return cgroup;
  }

  /** Processes that this process starts from now on are included. */
  async add(pid: number): Promise<void> {
    for (const place of this.#places) {
      await writeFile(join(this.#directoryIn(place), "cgroup.procs"), String(pid));
    }
  }

  /** The number of processes that were killed because the memory limit was reached. */
  async memoryKills(): Promise<number> {
    const place = this.#places.find(({ controllers }) => controllers.includes("memory"));
    if (place === undefined) {
      return 0;
    }
    const file = place.version === 1 ? "memory.oom_control" : "memory.events";
    const text = await readFile(join(this.#directoryIn(place), file), "utf8").catch(() => "");
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Works once the processes are gone. */
  async remove(): Promise<void> {
    await Promise.all(this.#places.map((place) => removeCgroup(this.#directoryIn(place))));
  }

  async #make(place: CgroupPlace, limits: SandboxLimits): Promise<void> {
    const directory = this.#directoryIn(place);
    await mkdir(directory);
    for (const setting of settingsOf(place, limits)) {
      await applySetting(directory, setting);
    }
  }

  #directoryIn(place: CgroupPlace): string {
    return join(place.directory, this.#name);
  }
}

/** Removes the cgroups of killed workers, because cgroups outlive their processes. */
export async function sweepCgroups(places: readonly CgroupPlace[], dataDir: string): Promise<void> {
  for (const { directory } of places) {
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
