import type { Clock } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import type { RunId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";
import type { ImageSource } from "../../ports/image-source.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { Queue } from "../../ports/queue.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { findEnvironment, planOf } from "../../runs/executed/workspace-plan.ts";
import { runJob } from "../../runs/run-job.ts";

export interface RunImagesDeps {
  readonly images: ImageSource;
  /** The id of this worker's data directory. */
  readonly disk?: string;
  readonly storage: Pick<Storage, "environments" | "runs">;
  readonly queue: Pick<Queue, "ensure">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** Another worker may take the run after this time, because this one may have died. */
const OTHERS_MS = 60_000;
/** How often a waiting run is read, because notifications can be lost. */
const LOOK_MS = 5_000;

/**
 * Pulls the images of runs before they are claimed. Such a run stays QUEUED: it takes no slot, has no lease, and does not
 * count as an attempt.
 */
export class RunImages {
  readonly #deps: RunImagesDeps;
  readonly #waiting = new Set<RunId>();
  /** Runs whose pull has ended. They are claimed, and fail if the image is missing. */
  readonly #pulled = new Set<RunId>();

  constructor(deps: RunImagesDeps) {
    this.#deps = deps;
  }

  /** The image that must be pulled before this worker can claim the run. */
  async missingImage(runId: RunId): Promise<string | undefined> {
    const { images, storage } = this.#deps;
    const run = await storage.runs.find({ id: runId });
    if (run === undefined || !isFree(run) || this.#pulled.has(runId)) {
      return undefined;
    }
    const environment = await findEnvironment(storage, run).catch(undefinedIfDeleted);
    const { image } = planOf(run, environment);
    return image === undefined || (await images.isReady(image)) ? undefined : image;
  }

  /** The runs whose images this worker pulls. Their turn is after that. */
  waiting(): readonly RunId[] {
    return [...this.#waiting];
  }

  /** Call it when a job of the run arrives: while the pull goes on, another job must come later. */
  async keepJob(runId: RunId): Promise<void> {
    if (!this.#waiting.has(runId)) {
      return;
    }
    const run = await this.#deps.storage.runs.find({ id: runId });
    if ((await this.missingImage(runId)) === undefined) {
      // The image came by another way, or the run needs it no more.
      this.#waiting.delete(runId);
    } else if (run !== undefined) {
      await this.#deps.queue.ensure({ ...runJob(run), afterMs: OTHERS_MS });
    }
  }

  /** Whether this worker already pulls the image of the run. */
  isWaiting(runId: RunId): boolean {
    return this.#waiting.has(runId);
  }

  /** Pulls the image while the run waits, and then gives the run to this worker. */
  async pullFor(run: Run, image: string, stop: AbortSignal): Promise<void> {
    const { pubsub, queue } = this.#deps;
    await queue.ensure({ ...runJob(run), afterMs: OTHERS_MS });
    if (this.#waiting.has(run.id)) {
      return;
    }
    this.#waiting.add(run.id);
    void this.#pull(run.id, image, stop).then(async (isWanted) => {
      this.#waiting.delete(run.id);
      if (isWanted) {
        this.#pulled.add(run.id);
        // Without it, the other job comes later.
        await queue.ensure(this.#ownJob(run)).catch(() => undefined);
        pubsub.publish([CHANNELS.jobs("run")]);
      }
    });
  }

  /** Call it when the run was claimed, or is not for this worker. */
  forget(runId: RunId): void {
    this.#pulled.delete(runId);
  }

  #ownJob(run: Run) {
    const { disk } = this.#deps;
    return disk === undefined ? runJob(run) : ({ kind: "run", key: run.id, disk } as const);
  }

  /** False when the run was cancelled, deleted or claimed elsewhere meanwhile, or when the worker stops. */
  async #pull(runId: RunId, image: string, stop: AbortSignal): Promise<boolean> {
    const { clock, images, pubsub, storage } = this.#deps;
    const unwanted = new AbortController();
    const look = async () => {
      const run = await storage.runs.find({ id: runId });
      if (run === undefined || !isFree(run)) {
        unwanted.abort();
      }
    };
    // An unavailable database says nothing about the run.
    const lookAgain = () => void look().catch(() => undefined);
    const ends = [clock.every(LOOK_MS, lookAgain), pubsub.subscribe(CHANNELS.run(runId), lookAgain)];
    await images.pull(image, AbortSignal.any([unwanted.signal, stop]));
    for (const end of ends) {
      end();
    }
    return !unwanted.signal.aborted && !stop.aborted;
  }
}

function isFree({ lease, state }: Run): boolean {
  return state === "QUEUED" && lease === undefined;
}

/** The attempt says that the environment was deleted. */
function undefinedIfDeleted(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  throw error;
}
