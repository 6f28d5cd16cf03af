import { AppError } from "../errors.ts";
import { type LeaseToken, newId, type RunId } from "../ids.ts";
import { CHANNELS } from "../ports/pubsub.ts";
import type { Queue, Slot } from "../ports/queue.ts";
import { logRunEnd } from "../runs/log-run-end.ts";
import type { Run } from "../runs/run.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { isFor, runJob } from "../runs/run-job.ts";
import type { Storage } from "../storage.ts";
import { Attempt } from "./attempt.ts";
import type { AttemptDeps } from "./attempt-deps.ts";
import { decideClaim, decideRecovery } from "./decide-attempt.ts";

export interface RunWorkerDeps
  extends Omit<AttemptDeps, "run" | "slot" | "storage" | "token" | "stop" | "redact"> {
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  readonly queue: Pick<Queue, "ensure">;
  readonly storage: AttemptDeps["storage"] & Pick<Storage, "workers">;
}

/** The slot of a run that no queue handed out. */
const UNLIMITED: Slot = { release: () => undefined, reacquire: async () => undefined };

/** How long a run waits at most for the worker that has its files, while that worker is free. */
const PREFER_MS = 2_000;

/**
 * Handles a `run` job: claims the run if it needs work, and works on it to its end. A run whose files are on the disk of
 * another worker is left to that worker, if it is alive and free, for `PREFER_MS`. Then any worker claims it.
 */
export class RunWorker {
  readonly #deps: RunWorkerDeps;

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
  }

  /** Can be called repeatedly: a second call finds nothing to do. `stop` asks to hand the run back soon. */
  async work(runId: RunId, stop: AbortSignal, slot: Slot = UNLIMITED): Promise<void> {
    // This must throw: a job whose handler returns is deleted, and the run would wait without one.
    stop.throwIfAborted();
    const token = newId<LeaseToken>(this.#deps.clock.now());
    const run = await this.#claim(runId, token, true).catch(undefinedIfDeleted);
    if (run === undefined) {
      return;
    }
    this.#deps.log.info("run.claimed", { runId, attempt: run.attempt });
    await new Attempt({ ...this.#deps, run, token, stop, slot }).perform();
  }

  /** Takes a run away from a lost worker, so that another worker can claim it. */
  async recover(runId: RunId): Promise<void> {
    let isLost = false;
    const { log, worker } = this.#deps;
    const run = await this.#deps.storage.runs.change(runId, (aggregate) => {
      isLost = aggregate.leaseOver;
      if (!isLost) {
        return undefined;
      }
      const edit = this.#edit(aggregate);
      decideRecovery(edit);
      return edit.done();
    });
    if (isLost) {
      log.warn("run.recovered", { runId });
      logRunEnd(log, run, worker);
    }
  }

  async #claim(runId: RunId, token: LeaseToken, mayLeave: boolean): Promise<Run | undefined> {
    const { host, leaseMs, worker } = this.#deps;
    let preferred: string | undefined;
    const run = await this.#deps.storage.runs.change(runId, (aggregate) => {
      if (!isFor(aggregate.run, host)) {
        return undefined;
      }
      preferred = mayLeave ? this.#preferredDisk(aggregate.run) : undefined;
      if (preferred !== undefined) {
        return undefined;
      }
      const edit = this.#edit(aggregate);
      return decideClaim(edit, { token, worker, ttlMs: leaseMs }) ? edit.done() : undefined;
    });
    if (preferred === undefined) {
      return run.lease?.token === token ? run : undefined;
    }
    return (await this.#leftTo(preferred, run)) ? undefined : await this.#claim(runId, token, false);
  }

  /** The other disk that has the files, while the run may wait for it. Clocks may differ, so the wait has two bounds. */
  #preferredDisk({ disk, lease, state, stateSince }: Run): string | undefined {
    const waitedMs = this.#deps.clock.now().getTime() - (stateSince?.getTime() ?? 0);
    const mayWait = state === "QUEUED" && lease === undefined && waitedMs >= 0 && waitedMs < PREFER_MS;
    return mayWait && disk !== this.#deps.disk ? disk : undefined;
  }

  /** Two jobs replace the present one: one for the worker with the files now, one for every worker after the wait. */
  async #leftTo(disk: string, run: Run): Promise<boolean> {
    const { log, pubsub, queue, storage } = this.#deps;
    if (!(await storage.workers.hasRoom(disk, run.config.worker_host))) {
      return false;
    }
    await queue.ensure({ ...runJob(run), afterMs: PREFER_MS });
    await queue.ensure({ kind: "run", key: run.id, disk });
    pubsub.publish([CHANNELS.jobs("run")]);
    log.info("run.left_to_other_worker", { runId: run.id, disk });
    return true;
  }

  #edit(aggregate: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(aggregate, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }
}

/** A run may be deleted while a job of it still waits. */
function undefinedIfDeleted(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  throw error;
}
