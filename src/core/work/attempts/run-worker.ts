import { AppError } from "../../basics/errors.ts";
import { type LeaseToken, newId, type RunId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";
import type { ImageSource } from "../../ports/image-source.ts";
import { CHANNELS } from "../../ports/pubsub.ts";
import type { Queue, Slot } from "../../ports/queue.ts";
import type { NextRun } from "../../ports/stores/claim-store.ts";
import type { RunChange } from "../../ports/stores/run-change.ts";
import { type Storage, TeamAtQuota } from "../../ports/stores/storage.ts";
import { RunEdit } from "../../runs/run-edit.ts";
import { isFor, runJob } from "../../runs/run-job.ts";
import { decideClaim } from "../context/decide-attempt.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { LeaseRenewals } from "../lease/lease-renewals.ts";
import { Attempt } from "./attempt.ts";
import { callNextOfTeam, callRun } from "./call-run.ts";
import { RunImages } from "./run-images.ts";

export interface RunWorkerDeps
  extends Omit<AttemptDeps, "redact" | "renewals" | "run" | "slot" | "stop" | "storage" | "token"> {
  readonly leaseMs: number;
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  readonly queue: Pick<Queue, "ensure">;
  /** Undefined: the sandbox has no images. */
  readonly images?: ImageSource;
  readonly storage: AttemptDeps["storage"] & Pick<Storage, "claims" | "leases" | "workers">;
}

interface ClaimedRun {
  readonly run: Run;
  /** The quota `running_runs` of its team. */
  readonly runningMax: number | undefined;
}

/** The slot of a run that no queue handed out. */
const UNLIMITED: Slot = { release: () => undefined, reacquire: async () => undefined };

interface Claim {
  readonly token: LeaseToken;
  /** The image that must be pulled first. */
  readonly image: string | undefined;
  readonly stop: AbortSignal;
  readonly mayLeave: boolean;
}

/** How long a run waits at most for the worker that has its files, while that worker is free. */
const PREFER_MS = 2_000;
/** How often a worker looks again after other workers have claimed what it was about to claim. */
const LOOKS_MAX = 20;

/**
 * Handles a `run` job: claims a run that needs work, and works on it to its end. It is the run of the job, or a run of
 * another team whose turn it is; then the run of the job gets another job. A run whose team has no room in its quota
 * `running_runs` is left without a job, and gets one when a run of the team has left its slot. A run whose files are on
 * the disk of another worker is left to that worker, if it is alive and free, for `PREFER_MS`. Then any worker claims it.
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

  /** Can be called repeatedly: a second call for the same run finds nothing to do. `stop` asks to hand the run back soon. */
  async work(runId: RunId, stop: AbortSignal, slot: Slot = UNLIMITED): Promise<void> {
    // This must throw: a job whose handler returns is deleted, and the run would wait without one.
    stop.throwIfAborted();
    const token = newId<LeaseToken>(this.#deps.clock.now());
    const claimed = await this.#claimNext(runId, token, stop);
    if (claimed === undefined) {
      return;
    }
    const { run, runningMax } = claimed;
    this.#deps.log.info("run.claimed", { runId: run.id, attempt: run.attempt });
    const callNext = async () => (runningMax === undefined ? undefined : callNextOfTeam(this.#deps, run));
    await callNext();
    const reacquire: Slot["reacquire"] = (signal) => slot.reacquire(signal);
    const release = () => {
      slot.release();
      void callNext();
    };
    const claim = { run, token, stop, slot: { release, reacquire }, renewals: this.#renewals };
    await new Attempt({ ...this.#deps, ...claim }).perform();
    await callNext();
  }

  async #claimNext(runId: RunId, token: LeaseToken, stop: AbortSignal): Promise<ClaimedRun | undefined> {
    const { disk, host, storage } = this.#deps;
    await this.#images?.keepJob(runId);
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const next = await storage.claims.next({
        runId,
        host,
        disk,
        preferMs: PREFER_MS,
        except: this.#images?.waiting() ?? [],
      });
      if (next === undefined) {
        return undefined;
      }
      if (next.passedOver !== undefined) {
        await callRun(this.#deps, next.passedOver);
      }
      const image = await this.#images?.missingImage(next.id);
      const claim = { token, image, stop, mayLeave: next.id === runId };
      const claimed = await this.#claim(next, claim).catch(takenIfNotClaimed);
      if (claimed !== "taken") {
        return claimed === "left" ? undefined : { run: claimed, runningMax: next.runningMax };
      }
    }
    throw new AppError("resource_unavailable", "Other workers were faster each time.");
  }

  /** `left`: to another worker, which has its files, or to the pull of its image. `taken`: by another worker. */
  async #claim(next: NextRun, claim: Claim): Promise<Run | "left" | "taken"> {
    const { host, leaseMs, worker } = this.#deps;
    const { image, mayLeave, token } = claim;
    const { id, runningMax } = next;
    let preferred: string | undefined;
    let waits = false;
    const run = await this.#deps.storage.runs.change(id, (aggregate) => {
      if (!isFor(aggregate.run, host)) {
        return undefined;
      }
      preferred = mayLeave ? this.#preferredDisk(aggregate.run) : undefined;
      if (preferred !== undefined) {
        return undefined;
      }
      const edit = this.#edit(aggregate);
      waits = image !== undefined && aggregate.run.state === "QUEUED" && aggregate.run.lease === undefined;
      if (waits) {
        return this.#tellPull(edit, image);
      }
      return decideClaim(edit, { token, worker, ttlMs: leaseMs, runningMax }) ? edit.done() : undefined;
    });
    if (preferred !== undefined) {
      const isLeft = await this.#leftTo(preferred, run);
      return isLeft ? "left" : await this.#claim(next, { ...claim, mayLeave: false });
    }
    if (waits && image !== undefined) {
      await this.#images?.pullFor(run, image, claim.stop);
      return "left";
    }
    this.#images?.forget(id);
    return run.lease?.token === token ? run : "taken";
  }

  /** Once for each pull. */
  #tellPull(edit: RunEdit, image: string | undefined): RunChange | undefined {
    if (this.#images?.isWaiting(edit.run.id)) {
      return undefined;
    }
    edit.record({
      kind: "agent.notice",
      severity: "info",
      text: `The worker pulls the image ${image} first.`,
    });
    return edit.done();
  }

  /** The other disk that has the files, while the run may wait for it. Clocks may differ, so the wait has two bounds. */
  #preferredDisk({ disk, lease, state, stateSince }: Run): string | undefined {
    const waitedMs = this.#deps.clock.now().getTime() - stateSince.getTime();
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

/** A run may be deleted while a job of it still waits, and its team may use up its quota before the claim. */
function takenIfNotClaimed(error: unknown): "taken" {
  const isDeleted = error instanceof AppError && error.code === "resource_not_found";
  if (isDeleted || error instanceof TeamAtQuota) {
    return "taken";
  }
  throw error;
}
