import type { Stop } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, StorageUnavailable } from "../../basics/errors.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import type { StoredFiles, StoredTurn, StoredWithinTurn } from "../../model/workspaces/workspace.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { LeaseLost, type LeaseWriter } from "../lease/lease-writer.ts";
import { leftOutText } from "./checkpoint-gaps.ts";

type TurnCheckpointDeps = Pick<AttemptDeps, "clock" | "log" | "redact" | "run" | "settings" | "workspaces">;

/**
 * Stores the changed files of a run again and again while its agent works, so that a lost worker costs minutes of a long
 * turn. The agent and its turn do not wait for it. A failure is logged; the end of the turn tells what is missing.
 */
export class TurnCheckpoints {
  readonly #deps: TurnCheckpointDeps;
  readonly #lease: LeaseWriter;
  #stored: Omit<StoredWithinTurn, "leftOut"> | undefined;
  #timer: Stop | undefined;
  #stopping = new AbortController();
  #storing: Promise<void> | undefined;

  constructor(deps: TurnCheckpointDeps, lease: LeaseWriter) {
    this.#deps = deps;
    this.#lease = lease;
    this.#stored = storedFilesOf(deps.run);
  }

  /** Can be repeated. */
  start(): void {
    this.#timer ??= this.#deps.clock.every(this.#deps.settings.checkpointMs, () => {
      this.#storing ??= this.#store(this.#stopping.signal).finally(() => {
        this.#storing = undefined;
      });
    });
  }

  /** Nothing is written after the promise resolves. */
  async stop(): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    this.#stopping.abort();
    await this.#storing;
    this.#stopping = new AbortController();
  }

  /** Stores the files as they are. The caller writes the names of the blobs. */
  storeTurn(): Promise<StoredTurn> {
    const { run, workspaces } = this.#deps;
    return workspaces.storeTurn(run.id, this.#stored, this.#stopping.signal);
  }

  /** The run names another checkpoint now, and the blobs before it are no longer needed. */
  async replace(stored: Omit<StoredWithinTurn, "leftOut">): Promise<void> {
    const before = this.#stored;
    this.#stored = stored;
    const kept = namesOf(stored);
    for (const blobId of before === undefined ? [] : namesOf(before)) {
      if (!kept.includes(blobId)) {
        await this.#forget(blobId);
      }
    }
  }

  /** A blob that is left behind costs only space, until it is pruned. */
  async #forget(blobId: string): Promise<void> {
    const { clock, log, run, workspaces } = this.#deps;
    await retry(clock, WHILE_UNAVAILABLE, () => workspaces.removeCheckpoint(blobId)).catch((error) =>
      log.warn("workspace.checkpoint.not_removed", { runId: run.id, checkpoint: blobId, error }),
    );
  }

  async #store(signal: AbortSignal): Promise<void> {
    const { log, run, workspaces } = this.#deps;
    try {
      const stored = await workspaces.storeWithinTurn(run.id, this.#stored, signal);
      if (stored !== undefined && !signal.aborted) {
        await this.#write(stored);
      }
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLost) {
        return;
      }
      log.warn("workspace.not_stored_within_turn", { runId: run.id, error });
      if (error instanceof AppError && !(error instanceof StorageUnavailable)) {
        // Trying again would cost as much and fail again.
        this.#timer?.();
      }
    }
  }

  async #write({ leftOut, ...stored }: StoredWithinTurn): Promise<void> {
    const { checkpoint, delta } = stored;
    const checkpointGaps = leftOut.length === 0 ? undefined : this.#deps.redact(leftOutText(leftOut));
    await this.#lease.write((edit) =>
      edit.set({
        checkpoint,
        checkpointDelta: delta,
        checkpointAt: edit.now,
        checkpointGaps,
        // It is older than these files.
        workCheckpoint: undefined,
      }),
    );
    await this.replace(stored);
  }
}

function namesOf({ checkpoint, delta, work }: StoredFiles): readonly string[] {
  return [checkpoint, delta, work].filter((blobId) => blobId !== undefined);
}

export function storedFilesOf({
  checkpoint,
  checkpointDelta: delta,
  workCheckpoint: work,
}: Run): StoredFiles | undefined {
  return checkpoint === undefined ? undefined : defined({ checkpoint, delta, work });
}
