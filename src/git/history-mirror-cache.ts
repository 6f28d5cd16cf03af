import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { KeyedSemaphore } from "../core/basics/keyed-semaphore.ts";
import type { Log } from "../core/basics/log.ts";
import { HistoryMirror } from "./history-mirror.ts";

export interface HistoryMirrorCacheOptions {
  readonly root: string;
  readonly program: string;
  readonly maxMirrors: number;
  readonly log: Log;
}

/**
 * Caches mirrors with full history across restarts. One caller at a time uses a mirror, and the most recently used
 * ones are kept.
 */
export class HistoryMirrorCache {
  readonly #options: HistoryMirrorCacheOptions;
  readonly #mirrors = new Map<string, HistoryMirror>();
  readonly #locks = new KeyedSemaphore(1);

  constructor(options: HistoryMirrorCacheOptions) {
    this.#options = options;
  }

  use<T>(key: string, work: (mirror: HistoryMirror) => Promise<T>): Promise<T> {
    return this.#locks.pass(key, async () => {
      const mirror = this.#mirror(key);
      await mirror.touch();
      await this.#dropOldest();
      return work(mirror);
    });
  }

  remove(key: string): Promise<void> {
    return this.#locks.pass(key, () => this.#mirror(key).remove());
  }

  #mirror(key: string): HistoryMirror {
    const { program, root } = this.#options;
    const mirror = this.#mirrors.get(key) ?? new HistoryMirror(program, join(root, key));
    this.#mirrors.set(key, mirror);
    return mirror;
  }

  async #dropOldest(): Promise<void> {
    const { log, maxMirrors, root } = this.#options;
    await mkdir(root, { recursive: true, mode: 0o700 });
    const keys = await readdir(root);
    if (keys.length <= maxMirrors) {
      return;
    }
    const ages = await Promise.all(keys.map(async (key) => ({ key, usedAt: await usedAt(join(root, key)) })));
    const oldest = ages.sort((left, right) => left.usedAt - right.usedAt).slice(0, -maxMirrors);
    for (const { key } of oldest) {
      // Not awaited, because the holder of its lock may be waiting for a lock that we hold.
      this.remove(key).catch((error) => log.warn("repository.mirror.not_removed", { error }));
    }
  }
}

/** Another process may have removed it just now. */
async function usedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
