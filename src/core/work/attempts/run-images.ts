import type { Clock } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import type { RunId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";
import type { ImageSource } from "../../ports/image-source.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { findEnvironment, planOf } from "../../runs/executed/workspace-plan.ts";

export interface RunImagesDeps {
  readonly images: ImageSource;
  /** The id of this worker's data directory. */
  readonly disk?: string;
  readonly storage: Pick<Storage, "claims" | "environments" | "runs">;
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

  /** Pulls the image while the run waits. Meanwhile other workers leave the run to this one. */
  async pullFor(run: Run, image: string, stop: AbortSignal): Promise<void> {
    const { disk, pubsub, storage } = this.#deps;
    if (!isFree(run)) {
      return;
    }
    this.#waiting.add(run.id);
    void this.#pull(run.id, image, stop).then((isWanted) => {
      this.#waiting.delete(run.id);
      if (isWanted) {
        this.#pulled.add(run.id);
        pubsub.publish([CHANNELS.runQueue]);
      }
    });
    await storage.claims.release(run.id, disk === undefined ? undefined : { disk, ms: OTHERS_MS });
  }

  /** Call it when the run was claimed. */
  forget(runId: RunId): void {
    this.#pulled.delete(runId);
  }

  /** False when the run was cancelled, deleted or claimed elsewhere meanwhile, or when the worker stops. */
  async #pull(runId: RunId, image: string, stop: AbortSignal): Promise<boolean> {
    const { clock, images, pubsub, storage } = this.#deps;
    const [unwanted, present] = [new AbortController(), new AbortController()];
    const look = async () => {
      const run = await storage.runs.find({ id: runId });
      if (run === undefined || !isFree(run)) {
        unwanted.abort();
      } else if (await images.isReady(image)) {
        // The image came by another way.
        present.abort();
      }
    };
    // An unavailable database says nothing about the run.
    const lookAgain = () => void look().catch(() => undefined);
    const ends = [clock.every(LOOK_MS, lookAgain), pubsub.subscribe(CHANNELS.run(runId), lookAgain)];
    await images.pull(image, AbortSignal.any([unwanted.signal, present.signal, stop]));
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
