import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { KeyedSemaphore } from "../core/basics/keyed-semaphore.ts";
import type { Log } from "../core/basics/log.ts";
import { Mirror } from "./mirror.ts";

/** A point in time, in an order that is finer than the clock. */
export interface Moment {
  readonly at: Date;
  readonly order: number;
}

/** A mirror with its state. */
export interface Held {
  readonly mirror: Mirror;
  /** The newest commit at the last fetch; undefined: there was none. */
  commit?: string | undefined;
  /** When that fetch began. */
  fetched?: Moment;
}

interface ShelfOptions {
  readonly root: string;
  readonly program: string;
  readonly maxMirrors: number;
  /** Only a caller that holds the lock of a key may use its mirror. */
  readonly locks: KeyedSemaphore;
  readonly log: Log;
}

/**
 * Caches the mirrors of this process. The mirrors of an earlier process are deleted, because they may be incomplete.
 */
export class MirrorCache {
  readonly #options: ShelfOptions;
  /** The most recently used one is last. */
  readonly #held = new Map<string, Held>();
  #emptied: Promise<unknown> | undefined;

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  async take(key: string): Promise<Held> {
    await this.#empty();
    const { maxMirrors, program, root } = this.#options;
    const held = this.#held.get(key) ?? { mirror: new Mirror(program, join(root, key)) };
    this.#held.delete(key);
    this.#held.set(key, held);
    if (this.#held.size > maxMirrors) {
      this.#dropOldest();
    }
    return held;
  }

  /** The next caller starts with a new mirror. */
  async drop(key: string, { mirror }: Held): Promise<void> {
    this.#held.delete(key);
    await mirror.remove();
  }

  #dropOldest(): void {
    const { locks, log } = this.#options;
    const [oldest] = this.#held.entries();
    if (oldest === undefined) {
      return;
    }
    const [key, { mirror }] = oldest;
    this.#held.delete(key);
    // Not awaited, because the holder of its lock may be waiting for a lock that we hold. Skipped if the mirror is in
    // use again.
    locks
      .pass(key, async () => (this.#held.has(key) ? undefined : mirror.remove()))
      .catch((error) => log.warn("repository.mirror.not_removed", { error }));
  }

  #empty(): Promise<unknown> {
    const { root } = this.#options;
    this.#emptied ??= rm(root, { recursive: true, force: true }).then(() =>
      mkdir(root, { recursive: true, mode: 0o700 }),
    );
    return this.#emptied;
  }
}
