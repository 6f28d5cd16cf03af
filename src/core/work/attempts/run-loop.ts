import { type Clock, withTimeout } from "../../basics/clock.ts";
import type { Log } from "../../basics/log.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import { type Task, WorkLoop } from "../slots/work-loop.ts";
import type { ClaimedRun, RunWorker } from "./run-worker.ts";

export interface RunLoopDeps {
  readonly worker: Pick<RunWorker, "claim" | "perform">;
  /** How many runs have a slot of this process at a time. */
  readonly slots: number;
  /** Asked before each look for runs. While it says no, none is claimed. */
  readonly mayClaim?: () => Promise<boolean>;
  /** `isListening`: messages of other processes arrive. */
  readonly pubsub: Pick<PubSub, "subscribe"> & { readonly isListening: boolean };
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

/** A message wakes the worker. Polling finds runs whose message was lost, and runs whose time has come. */
const POLLING_MS = 1_000;
/** While no run waits, polling finds only runs whose message was lost. */
const EMPTY_POLLING_MS = 5_000;

/** Claims waiting runs while the worker has free slots, and works on them. */
export class RunLoop {
  readonly #deps: RunLoopDeps;
  readonly #loop: WorkLoop;
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(deps: RunLoopDeps) {
    const { clock, log, mayClaim = async () => true, pubsub, slots } = deps;
    this.#deps = deps;
    this.#loop = new WorkLoop({
      concurrency: slots,
      begin: (max, start) => this.#begin(max, start),
      mayBegin: mayClaim,
      pollingMs: POLLING_MS,
      stopping: this.#stopping.signal,
      clock,
      onError: (error) => log.warn("queue.error", { kind: "run", error: String(error) }),
    });
    this.#unsubscribe = pubsub.subscribe(CHANNELS.runQueue, () => this.#loop.wake());
  }

  /** Claims no more runs, asks the attempts to hand back theirs, and waits for them up to `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#unsubscribe();
    this.#stopping.abort();
    this.#loop.wake();
    await withTimeout(this.#loop.ended, graceMs, { clock: this.#deps.clock });
  }

  async #begin(max: number, start: (task: Task) => void): Promise<number> {
    const { pubsub, worker } = this.#deps;
    const { signal } = this.#stopping;
    for (let begun = 0; begun < max && !signal.aborted; begun += 1) {
      const claimed = await worker.claim(signal);
      if (typeof claimed === "string") {
        return claimed === "empty" && pubsub.isListening ? EMPTY_POLLING_MS : POLLING_MS;
      }
      start((slot) => this.#perform(claimed, slot));
    }
    return POLLING_MS;
  }

  /** The lease of a run whose attempt failed here expires, and another attempt continues it. */
  async #perform(claimed: ClaimedRun, slot: Parameters<Task>[0]): Promise<void> {
    const { log, worker } = this.#deps;
    try {
      await worker.perform(claimed, this.#stopping.signal, slot);
    } catch (error) {
      const facts = { kind: "run", key: claimed.run.id, error: String(error) };
      log.warn("job.failed", facts);
    }
  }
}
