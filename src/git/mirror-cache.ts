import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../core/ports/log.ts";
import type { KeyedSemaphore } from "./keyed-semaphore.ts";
import { Mirror } from "./mirror.ts";

/** A point in time, in an order that is finer than the clock. */
export interface Moment {
  readonly at: Date;
  readonly order: number;
}

/** A mirror, and what is known of it. */
export interface Held {
  readonly mirror: Mirror;
  /** The newest when it was fetched; undefined: there was none. */
  commit?: string | undefined;
  /** When that fetch began. */
  fetched?: Moment;
}

interface ShelfOptions {
  readonly root: string;
  readonly program: string;
  readonly maxMirrors: number;
  /** A mirror is touched only by who has passed it with the mirror's key. */
  readonly locks: KeyedSemaphore;
  readonly log: Log;
}

/** The mirrors of this process. What an earlier one left is thrown away: nothing is met that it left half done. */
export class MirrorCache {
  readonly #options: ShelfOptions;
  /** The one that was used last stands last. */
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
    if (this.#held.size > maxMirrors) this.#dropOldest();
    return held;
  }

  /** The next who takes it begins anew. */
  async drop(key: string, { mirror }: Held): Promise<void> {
    this.#held.delete(key);
    await mirror.remove();
  }

  #dropOldest(): void {
    const { locks, log } = this.#options;
    const [oldest] = this.#held.entries();
    if (oldest === undefined) return;
    const [key, { mirror }] = oldest;
    this.#held.delete(key);
    // Not waited for: whoever holds its lock may be waiting for one that we hold. Nor done if it is in use again.
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
