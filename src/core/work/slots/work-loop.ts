import type { Clock } from "../../basics/clock.ts";
import type { Slot } from "../../ports/queue.ts";
import { Slots } from "./slots.ts";

/** Work that has a slot. It never rejects. */
export type Task = (slot: Slot) => Promise<void>;

export interface WorkLoopDeps {
  /** How many tasks have a slot at a time. */
  readonly concurrency: number;
  /** Starts at most `max` tasks: those that wait. Returns when to look again without being woken. Default: `pollingMs`. */
  readonly begin: (max: number, start: (task: Task) => void) => Promise<number | undefined>;
  /** Asked before each look for tasks. While it says no, none is begun. */
  readonly mayBegin: () => Promise<boolean>;
  /** Undefined: its owner wakes the loop whenever a task may wait. */
  readonly pollingMs?: number;
  readonly stopping: AbortSignal;
  readonly clock: Pick<Clock, "after">;
  /** Called when tasks could not be read. */
  readonly onError: (error: unknown) => void;
}

/**
 * Begins waiting tasks while this process has free slots. Its life:
 *
 * 1. It begins as many tasks as there are free slots. A task may release its slot while it waits, and ask for one again.
 * 2. Without new tasks it rests until it is woken by a message, by a free slot, or by the poll, which finds lost messages.
 * 3. When the process stops, it begins no more, and `ended` resolves once the last task has ended.
 */
export class WorkLoop {
  readonly #deps: WorkLoopDeps;
  readonly #active = new Set<Promise<void>>();
  readonly #ended: Promise<void>;
  readonly #slots: Slots;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(deps: WorkLoopDeps) {
    this.#deps = deps;
    this.#slots = new Slots(deps.concurrency, () => this.wake());
    this.#ended = this.#run();
  }

  /** Resolves when the loop has stopped and its last task has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Call it when there may be a new task, and when the process stops. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#deps.stopping.aborted) {
      this.#isWoken = false;
      const restMs = (await this.#look()) ?? this.#deps.pollingMs;
      if (!this.#isWoken) {
        await this.#rest(restMs);
      }
    }
    await Promise.all(this.#active);
  }

  /** The slots are taken before the look, because a task may ask for its slot again meanwhile. */
  async #look(): Promise<number | undefined> {
    const { begin, mayBegin, onError } = this.#deps;
    let unused = 0;
    try {
      if (!(await mayBegin()) || this.#slots.free <= 0) {
        return undefined;
      }
      unused = this.#slots.free;
      this.#slots.take(unused);
      return await begin(unused, (task) => {
        unused -= 1;
        this.#start(task);
      });
    } catch (error) {
      onError(error);
      return undefined;
    } finally {
      this.#slots.returnUnused(unused);
    }
  }

  #start(task: Task): void {
    const slot = this.#slots.slotOfJob();
    const performed = task(slot).finally(() => {
      this.#active.delete(performed);
      slot.end();
    });
    this.#active.add(performed);
  }

  #rest(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const stop = ms === undefined ? () => undefined : this.#deps.clock.after(ms, resolve);
      this.#wake = () => {
        stop();
        resolve();
      };
    });
  }
}
