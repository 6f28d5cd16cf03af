import { AppError } from "../errors.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import type { Breaking } from "./breaking.ts";
import type { EventRecorder } from "./event-recorder.ts";
import type { GivenFiles } from "./given-files.ts";
import type { LeaseWriter } from "./lease-writer.ts";
import type { UsageMeter } from "./usage-meter.ts";
import type { WorkspaceSaver } from "./workspace-saver.ts";

/** What the parts of one attempt share. */
export interface AttemptKit {
  readonly parts: AttemptParts;
  readonly breaking: Breaking;
  readonly lease: LeaseWriter;
  readonly recorder: EventRecorder;
  readonly saver: WorkspaceSaver;
  readonly given: GivenFiles;
  readonly meter: UsageMeter;
  /** Without secrets, and fit to be stored. */
  readonly clean: <T>(value: T) => T;
}

/** Tells people, in the run's log, what could not be kept of its work. It changes nothing else. */
export function tellNotKept({ clean, lease, parts }: AttemptKit, what: string, error: unknown): void {
  const { log, run } = parts;
  if (error !== undefined) log.warn("changes.not_kept", { runId: run.id, what, error });
  const reason = clean(error instanceof AppError ? `${what}: ${error.message}` : `${what}.`);
  lease
    .write((edit) => edit.record({ kind: "changes.not_kept", reason }))
    .catch((problem) => log.warn("run.log.lost", { runId: run.id, error: problem }));
}
