import { randomUUID } from "node:crypto";
import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseRunId, type RunId } from "../core/basics/ids.ts";
import type { Log } from "../core/basics/log.ts";
import type { DiskUse } from "../core/model/workers/worker.ts";
import { diskSizeOf, freeBytesOf } from "./disk.ts";
import { isMissing, removeTree } from "./file-trees.ts";

/** Prepared environments are not used when they are older. */
const ENVIRONMENT_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** A worker without space looks this often for what can be deleted. */
const CROWDED_MS = 60_000;
/** A worker with little space makes room for this many times what it needs to take a run. */
const ROOM_FACTOR = 2;
const REMOVED = ".removed-";
/** What an interrupted installation or copy leaves begins with a dot. It may still be in progress. */
const HIDDEN_MS = 24 * 3_600_000;

export interface LocalDiskOptions {
  readonly dataDir: string;
  readonly limits: {
    /** How long a copy of a stored workspace is kept after its last use. */
    readonly copyMs: number;
    /** All copies together, and all mirrors together. The least recently used ones are deleted first. */
    readonly copiesBytes: number;
    /** How long unused mirrors and agents are kept. */
    readonly cacheMs: number;
    /** With less free space the worker takes no run. */
    readonly minFreeBytes: number;
  };
  /** Calls `remove` while nothing works on the run, if its workspace is stored. Returns whether it did. */
  readonly whileStored: (runId: RunId, remove: () => Promise<void>) => Promise<boolean>;
  /** Removes the containers and processes that killed workers of this data directory left. */
  readonly sweep: () => Promise<number>;
  readonly log: Log;
}

interface LocalCopy {
  readonly runId: RunId;
  readonly path: string;
  readonly usedAt: number;
  readonly bytes: number;
}

/**
 * What this worker stores in its data directory besides the embedded database: copies of workspaces, prepared
 * environments, mirrors and agents. All of it can be made again, except workspaces that are not stored.
 */
export class LocalDisk {
  readonly #options: LocalDiskOptions;
  readonly #sizes = new Map<RunId, LocalCopy>();
  #use: DiskUse["used"] = { workspaces: 0, environments: 0, mirrors: 0, agents: 0 };
  #takesRuns = true;
  #orphans = 0;
  #pruning: Promise<number> | undefined;
  #prunedMs = -Infinity;

  constructor(options: LocalDiskOptions) {
    this.#options = options;
  }

  /** The sizes are those of the last `prune`. */
  async look(): Promise<DiskUse> {
    const { dataDir, limits, log } = this.#options;
    const freeBytes = await freeBytesOf(dataDir);
    const takesRuns = freeBytes >= limits.minFreeBytes;
    if (takesRuns !== this.#takesRuns) {
      this.#takesRuns = takesRuns;
      const facts = { freeBytes, minFreeBytes: limits.minFreeBytes };
      takesRuns ? log.info("worker.disk.free_again", facts) : log.warn("worker.disk.full", facts);
    }
    if (!takesRuns && performance.now() - this.#prunedMs > CROWDED_MS) {
      void this.cleanUp();
    }
    return { freeBytes, takesRuns, used: this.#use, orphans: this.#orphans };
  }

  /** Prunes, and logs the result. Never rejects. */
  async cleanUp(): Promise<void> {
    const { log } = this.#options;
    try {
      const [count, orphans] = [await this.prune(), await this.sweep()];
      if (count + orphans > 0) {
        log.info("worker.disk.pruned", { count, orphans, used: this.#use });
      }
    } catch (error) {
      log.warn("worker.disk.not_pruned", { error });
    }
  }

  /** Ends what killed workers left running, and returns how many containers and processes that were. */
  async sweep(): Promise<number> {
    const count = await this.#options.sweep();
    this.#orphans += count;
    return count;
  }

  /** Deletes what is not needed, and returns the number of deleted trees. One call at a time does the work. */
  prune(): Promise<number> {
    this.#prunedMs = performance.now();
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  async #prune(): Promise<number> {
    const { dataDir, limits } = this.#options;
    const copies = await this.#pruneCopies();
    // Nothing copies from a cache for longer than that. An agent is in use for as long as its run.
    const cacheMs = (await this.#hasRoom()) ? limits.cacheMs : Math.min(limits.cacheMs, HOUR_MS);
    const caches = [
      await this.#pruneUnused("environments", Math.min(cacheMs, ENVIRONMENT_MS)),
      await this.#pruneUnused("histories", cacheMs, limits.copiesBytes),
      await this.#pruneUnused("agents", limits.cacheMs),
    ];
    const [environments, histories, mirrors, agents] = await Promise.all(
      ["environments", "histories", "mirrors", "agents"].map((name) => diskSizeOf(join(dataDir, name))),
    );
    this.#use = {
      workspaces: sumOf(Array.from(this.#sizes.values())),
      environments: environments ?? 0,
      mirrors: (histories ?? 0) + (mirrors ?? 0),
      agents: agents ?? 0,
    };
    return caches.reduce((sum, count) => sum + count, copies);
  }

  async #pruneCopies(): Promise<number> {
    const { dataDir, limits } = this.#options;
    const runs = join(dataDir, "runs");
    await removeRemains(runs);
    const copies = (await this.#listCopies(runs)).sort((left, right) => left.usedAt - right.usedAt);
    let bytes = sumOf(copies);
    let count = 0;
    for (const copy of copies) {
      const isOld = Date.now() - copy.usedAt > limits.copyMs;
      if (!isOld && bytes <= limits.copiesBytes && (await this.#hasRoom())) {
        break;
      }
      if (await this.#removeCopy(copy)) {
        bytes -= copy.bytes;
        count += 1;
      }
    }
    return count;
  }

  async #hasRoom(): Promise<boolean> {
    const { dataDir, limits } = this.#options;
    return (await freeBytesOf(dataDir)) >= ROOM_FACTOR * limits.minFreeBytes;
  }

  async #listCopies(runs: string): Promise<LocalCopy[]> {
    const copies: LocalCopy[] = [];
    for (const name of await readdir(runs).catch(() => [])) {
      const runId = parseRunId(name);
      const usedAt = runId === undefined ? undefined : await usedAtOf(join(runs, name));
      if (runId !== undefined && usedAt !== undefined) {
        copies.push(await this.#measured(runId, join(runs, name), usedAt));
      }
    }
    this.#sizes.clear();
    for (const copy of copies) {
      this.#sizes.set(copy.runId, copy);
    }
    return copies;
  }

  /** A workspace that was not used lately keeps its size. */
  async #measured(runId: RunId, path: string, usedAt: number): Promise<LocalCopy> {
    const known = this.#sizes.get(runId);
    return known?.usedAt === usedAt && Date.now() - usedAt > HOUR_MS
      ? known
      : { runId, path, usedAt, bytes: await diskSizeOf(path) };
  }

  /** Renamed while no worker can claim the run, and deleted afterwards, because that takes longer. */
  async #removeCopy({ path, runId }: LocalCopy): Promise<boolean> {
    const removed = join(path, "..", `${REMOVED}${randomUUID()}`);
    const isRemoved = await this.#options.whileStored(runId, () => moveAway(path, removed));
    if (isRemoved) {
      this.#sizes.delete(runId);
      await removeTree(removed);
    }
    return isRemoved;
  }

  /** What was used within the last hour may be in use. */
  async #pruneUnused(folder: string, keptMs: number, maxBytes = Infinity): Promise<number> {
    const root = join(this.#options.dataDir, folder);
    await removeRemains(root);
    const now = Date.now();
    let bytes = 0;
    let count = 0;
    for (const { name, usedAt } of await listByUse(root)) {
      const path = join(root, name);
      const size = maxBytes === Infinity ? 0 : await diskSizeOf(path);
      const isUnused = now - usedAt > (name.startsWith(".") ? HIDDEN_MS : keptMs);
      const isTooMuch = bytes + size > maxBytes && now - usedAt > HOUR_MS;
      if (isUnused || isTooMuch) {
        const removed = join(root, `${REMOVED}${randomUUID()}`);
        await rename(path, removed);
        await removeTree(removed);
        count += 1;
      } else {
        bytes += size;
      }
    }
    return count;
  }
}

/** The trees in a folder, the most recently used one first. */
async function listByUse(
  root: string,
): Promise<readonly { readonly name: string; readonly usedAt: number }[]> {
  const names = await readdir(root).catch(() => []);
  const trees = await Promise.all(
    names.map(async (name) => {
      const usedAt = (await stat(join(root, name)).catch(() => undefined))?.mtimeMs;
      return usedAt === undefined ? [] : [{ name, usedAt }];
    }),
  );
  return trees.flat().sort((left, right) => right.usedAt - left.usedAt);
}

/** Can be repeated. */
async function moveAway(path: string, place: string): Promise<void> {
  await rename(path, place).catch((error) => {
    if (!isMissing(error)) {
      throw error;
    }
  });
}

/** When a workspace was last prepared or stored. Its marker is written then; a half-made one has none. */
async function usedAtOf(path: string): Promise<number | undefined> {
  const times = await Promise.all(
    [path, join(path, "checkpoints.json"), join(path, "workspace.json")].map((each) =>
      stat(each).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  const usedAt = Math.max(...times);
  return usedAt === 0 ? undefined : usedAt;
}

/** What a process that was killed while it deleted has left. */
async function removeRemains(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    if (name.startsWith(REMOVED)) {
      await removeTree(join(root, name));
    }
  }
}

function sumOf(copies: readonly LocalCopy[]): number {
  return copies.reduce((sum, { bytes }) => sum + bytes, 0);
}
