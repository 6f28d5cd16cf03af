import { AppError } from "../errors.ts";
import { type LeaseToken, newId, type RunId } from "../ids.ts";
import type { Run } from "../runs/run.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { isFor } from "../runs/run-job.ts";
import { Attempt } from "./attempt.ts";
import type { AttemptDeps } from "./attempt-deps.ts";
import { decideClaim, decideRecovery } from "./decide-attempt.ts";
import { logRunEnd } from "./log-run-end.ts";

export interface RunWorkerDeps extends Omit<AttemptDeps, "run" | "token" | "stop" | "redact"> {
  /** The name by which runs ask for this worker. */
  readonly host?: string;
}

/** Handles a `run` job: claims the run if it needs work, and works on it to its end. */
export class RunWorker {
  readonly #deps: RunWorkerDeps;

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
  }

  /** Can be called repeatedly: a second call finds nothing to do. `stop` asks to hand the run back soon. */
  async work(runId: RunId, stop: AbortSignal): Promise<void> {
    // This must throw: a job whose handler returns is deleted, and the run would wait without one.
    stop.throwIfAborted();
    const token = newId<LeaseToken>(this.#deps.clock.now());
    const run = await this.#claim(runId, token).catch(undefinedIfDeleted);
    if (run === undefined) {
      return;
    }
    this.#deps.log.info("run.claimed", { runId, attempt: run.attempt });
    await new Attempt({ ...this.#deps, run, token, stop }).perform();
  }

  /** Takes a run away from a lost worker, so that another worker can claim it. */
  async recover(runId: RunId): Promise<void> {
    let isLost = false;
    const { log, worker } = this.#deps;
    const run = await this.#deps.storage.runs.change(runId, (subject) => {
      isLost = subject.leaseOver;
      if (!isLost) {
        return undefined;
      }
      const edit = this.#edit(subject);
      decideRecovery(edit);
      return edit.done();
    });
    if (isLost) {
      log.warn("run.recovered", { runId });
      logRunEnd(log, run, worker);
    }
  }

  async #claim(runId: RunId, token: LeaseToken): Promise<Run | undefined> {
    const { host, leaseMs, worker } = this.#deps;
    const run = await this.#deps.storage.runs.change(runId, (subject) => {
      if (!isFor(subject.run, host)) {
        return undefined;
      }
      const edit = this.#edit(subject);
      return decideClaim(edit, { token, worker, ttlMs: leaseMs }) ? edit.done() : undefined;
    });
    return run.lease?.token === token ? run : undefined;
  }

  #edit(subject: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(subject, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }
}

/** A run may be deleted while a job of it still waits. */
function undefinedIfDeleted(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  throw error;
}
