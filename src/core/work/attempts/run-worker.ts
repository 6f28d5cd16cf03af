import { AppError } from "../../basics/errors.ts";
import { type LeaseToken, newId, type RunId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";
import type { ImageSource } from "../../ports/image-source.ts";
import { CHANNELS } from "../../ports/pubsub.ts";
import type { Slot } from "../../ports/queue.ts";
import type { NextRun, NothingNext } from "../../ports/stores/claim-store.ts";
import type { RunAggregate } from "../../ports/stores/run-store.ts";
import { type Storage, TeamAtQuota } from "../../ports/stores/storage.ts";
import { RunEdit } from "../../runs/run-edit.ts";
import { decideClaim } from "../context/decide-attempt.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { LeaseRenewals } from "../lease/lease-renewals.ts";
import { Attempt } from "./attempt.ts";
import { RunImages } from "./run-images.ts";

export interface RunWorkerDeps
  extends Omit<AttemptDeps, "known" | "redact" | "renewals" | "run" | "slot" | "stop" | "storage" | "token"> {
  readonly leaseMs: number;
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  /** Undefined: the sandbox has no images. */
  readonly images?: ImageSource;
  readonly storage: AttemptDeps["storage"] & Pick<Storage, "claims" | "leases">;
}

/** A run of which this worker has the lease. */
export interface ClaimedRun {
  readonly run: Run;
  readonly token: LeaseToken;
  /** The run as the claim left it. */
  readonly known: RunAggregate | undefined;
  /** The quota `running_runs` of its team. */
  readonly runningMax: number | undefined;
}

/** How often a worker looks again after a run that it was about to claim was cancelled, or needs an image. */
const LOOKS_MAX = 20;

/**
 * Claims the run whose turn it is, and works on it to its end. `ClaimStore` chooses the run. A run whose image is missing
 * stays in the queue while this worker pulls the image.
 */
export class RunWorker {
  readonly #deps: RunWorkerDeps;
  readonly #images: RunImages | undefined;
  readonly #renewals: LeaseRenewals;

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
    const { images, storage } = deps;
    this.#images = images && new RunImages({ ...deps, images });
    this.#renewals = new LeaseRenewals({ ...deps, leases: storage.leases });
  }

  /** `stop` ends the pull of an image. */
  async claim(stop: AbortSignal): Promise<ClaimedRun | NothingNext> {
    const { clock, disk, host, log, startTimes, storage } = this.#deps;
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const begunMs = clock.elapsedMs();
      const except = this.#images?.waiting() ?? [];
      const next = await storage.claims.reserveNext({ host, disk, except });
      if (typeof next === "string") {
        return next;
      }
      const claimed = await this.#claim(next, stop);
      if (claimed !== undefined) {
        const { attempt, id: runId } = claimed.run;
        startTimes.add("claim", clock.elapsedMs() - begunMs);
        log.info("run.claimed", { runId, attempt });
        return claimed;
      }
    }
    return "later";
  }

  /** `stop` asks to hand the run back soon. */
  async perform({ known, run, runningMax, token }: ClaimedRun, stop: AbortSignal, slot: Slot): Promise<void> {
    const { pubsub } = this.#deps;
    const callOthers = () => (runningMax === undefined ? undefined : pubsub.publish([CHANNELS.runQueue]));
    const reacquire: Slot["reacquire"] = (signal) => slot.reacquire(signal);
    const release = () => {
      slot.release();
      callOthers();
    };
    const claim = { run, token, known, stop, slot: { release, reacquire }, renewals: this.#renewals };
    await new Attempt({ ...this.#deps, ...claim }).perform();
    // Another worker may have a free slot for the next run of a team that was at its quota.
    callOthers();
  }

  /** Undefined: the run waits for the pull of its image, or waits no longer. */
  async #claim({ id, runningMax }: NextRun, stop: AbortSignal): Promise<ClaimedRun | undefined> {
    const { clock, leaseMs, storage, worker } = this.#deps;
    const image = await this.#images?.missingImage(id);
    if (image !== undefined) {
      await this.#pull(id, image, stop).catch(ignoredIfDeleted);
      return undefined;
    }
    const token = newId<LeaseToken>(clock.now());
    const grant = { token, worker, ttlMs: leaseMs, runningMax };
    try {
      const decide = (aggregate: RunAggregate) => {
        const edit = this.#edit(aggregate);
        return decideClaim(edit, grant) ? edit.done() : undefined;
      };
      const { next: known, run } = await storage.runs.changeOwn(id, decide, undefined);
      this.#images?.forget(id);
      return run.lease?.token === token ? { run, token, known, runningMax } : undefined;
    } catch (error) {
      if (!(error instanceof TeamAtQuota)) {
        return ignoredIfDeleted(error);
      }
      // A worker of the previous release has used up the quota meanwhile.
      await storage.claims.release(id);
      return undefined;
    }
  }

  /** Says so in the log of the run, once. */
  async #pull(id: RunId, image: string, stop: AbortSignal): Promise<void> {
    const run = await this.#deps.storage.runs.change(id, (aggregate) => {
      const { lease, state } = aggregate.run;
      if (state !== "QUEUED" || lease !== undefined) {
        return undefined;
      }
      const edit = this.#edit(aggregate);
      const text = `The worker pulls the image ${image} first.`;
      edit.record({ kind: "agent.notice", severity: "info", text });
      return edit.done();
    });
    await this.#images?.pullFor(run, image, stop);
  }

  #edit(aggregate: RunAggregate): RunEdit {
    return new RunEdit(aggregate, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }
}

/** A run may be deleted while it waits. */
function ignoredIfDeleted(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  throw error;
}
