import { AppError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { WorkspaceKeeper } from "../ports/workspace.ts";
import type { Run } from "../runs/run.ts";
import type { RunEdit } from "../runs/run-edit.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import type { LeaseWriter } from "./lease-writer.ts";
import { untilAvailable } from "./until-available.ts";

type Saved = { readonly checkpoint: string } | { readonly problem: string } | undefined;

/** Stores the workspace together with what is decided about the run, and drops the checkpoint before. */
export class WorkspaceSaver {
  readonly #workspaces: WorkspaceKeeper;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #lease: LeaseWriter;
  readonly #run: Run;
  #checkpoint: string | undefined;
  #isTouched = false;

  constructor({ clock, log, run, workspaces }: AttemptParts, lease: LeaseWriter) {
    this.#log = log;
    this.#workspaces = workspaces;
    this.#clock = clock;
    this.#lease = lease;
    this.#run = run;
    this.#checkpoint = run.checkpoint;
  }

  /** Files may change from now on. */
  touch(): void {
    this.#isTouched = true;
  }

  /** The checkpoint is stored first and named by the run in the same transaction as the decision. */
  async saveWith<T>(decide: (edit: RunEdit) => T): Promise<T> {
    const saved = this.#isTouched ? await this.#save() : undefined;
    const { value } = await this.#lease.write((edit) => {
      recordSaved(edit, saved);
      return decide(edit);
    });
    this.#isTouched = false;
    if (saved !== undefined && "checkpoint" in saved) await this.#replace(saved.checkpoint);
    return value;
  }

  /** A workspace that cannot be stored stays on this worker; the run goes on and its log says so. */
  async #save(): Promise<Saved> {
    try {
      const checkpoint = await untilAvailable(this.#clock, () => this.#workspaces.checkpoint(this.#run.id));
      return { checkpoint };
    } catch (error) {
      this.#log.error("workspace.not_stored", { runId: this.#run.id, error });
      const known = error instanceof AppError ? `${error.message} ${error.options.remedy ?? ""}` : "";
      return { problem: known.trim() || "The files of the workspace could not be read." };
    }
  }

  async #replace(checkpoint: string): Promise<void> {
    const before = this.#checkpoint;
    this.#checkpoint = checkpoint;
    if (before === undefined) return;
    // One that stays behind costs space and nothing else.
    await untilAvailable(this.#clock, () => this.#workspaces.forget(before)).catch((error) =>
      this.#log.warn("workspace.checkpoint.left", { runId: this.#run.id, checkpoint: before, error }),
    );
  }
}

function recordSaved(edit: RunEdit, saved: Saved): void {
  if (saved === undefined) return;
  if ("problem" in saved) {
    edit.record({ kind: "workspace.not_stored", reason: saved.problem });
    return;
  }
  edit.set({ checkpoint: saved.checkpoint });
  edit.record({ kind: "workspace.stored", checkpoint: saved.checkpoint });
}
