import type { Clock, Stop } from "../basics/clock.ts";
import { defined } from "../basics/defined.ts";
import type { Log } from "../basics/log.ts";
import type { StartDurations } from "../model/workers/start-durations.ts";
import type { DiskUse, Worker } from "../model/workers/worker.ts";
import type { WorkerStore } from "../ports/stores/worker-store.ts";

/** Two heartbeats may be lost before the worker counts as gone. */
const BEAT_MS = 10_000;

export interface HeartbeatDeps {
  readonly workers: Pick<WorkerStore, "beat" | "remove">;
  readonly clock: Clock;
  readonly log: Log;
  readonly worker: Worker;
  readonly disk?: { look(): Promise<DiskUse> };
  readonly startTimes?: { readonly durations: StartDurations };
}

/** Reports that a worker is alive. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #beating: Promise<void> = Promise.resolve();
  #stop: Stop | undefined;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#stop = this.#deps.clock.every(BEAT_MS, () => void this.#beat());
    await this.#beat();
  }

  /** Removes the worker at once, before other processes would miss its heartbeat. */
  async stop(): Promise<void> {
    this.#stop?.();
    await this.#beating;
    const { log, worker, workers } = this.#deps;
    await workers.remove(worker.id).catch((error) => log.warn("worker.not_removed", { error }));
  }

  #beat(): Promise<void> {
    const { log } = this.#deps;
    this.#beating = this.#report().catch((error) => log.warn("worker.heartbeat.failed", { error }));
    return this.#beating;
  }

  async #report(): Promise<void> {
    const { disk, log, startTimes, worker, workers } = this.#deps;
    const diskUse = await disk?.look().catch((error) => log.warn("worker.disk.not_read", { error }));
    const reported = { diskUse: diskUse ? diskUse : undefined, starts: startTimes?.durations };
    await workers.beat({ ...worker, ...defined(reported) });
  }
}
