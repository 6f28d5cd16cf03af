import { AppError } from "../../basics/errors.ts";
import type { AttemptAbort } from "../lease/attempt-abort.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { LeaseWriter } from "../lease/lease-writer.ts";
import type { UsageMeter } from "../limits/usage-meter.ts";
import type { EventRecorder } from "../log/event-recorder.ts";
import type { AttemptSlot } from "../slots/slots.ts";
import type { InputFiles } from "../workspaces/input-files.ts";
import type { PictureSaver } from "../workspaces/picture-saver.ts";
import type { WorkspaceSaver } from "../workspaces/workspace-saver.ts";

/** What the collaborators of one attempt share. */
export interface AttemptServices {
  readonly deps: AttemptDeps;
  readonly abort: AttemptAbort;
  readonly lease: LeaseWriter;
  readonly slot: AttemptSlot;
  readonly recorder: EventRecorder;
  readonly pictures: PictureSaver;
  readonly saver: WorkspaceSaver;
  readonly inputFiles: InputFiles;
  readonly meter: UsageMeter;
  /** Returns the value without secrets and without characters that the database refuses. */
  readonly clean: <T>(value: T) => T;
}

/** Records in the log of the run that some of its changes were not stored. It has no other effect. */
export function recordLostChanges(
  { clean, lease, deps }: AttemptServices,
  what: string,
  error: unknown,
): void {
  const { log, run } = deps;
  if (error !== undefined) {
    log.warn("changes.not_kept", { runId: run.id, what, error });
  }
  const reason = clean(error instanceof AppError ? `${what}: ${error.message}` : `${what}.`);
  lease
    .write((edit) => edit.record({ kind: "changes.not_kept", reason }))
    .catch((problem) => log.warn("run.events.not_stored", { runId: run.id, error: problem }));
}
