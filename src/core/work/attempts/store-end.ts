import type { Run } from "../../model/runs/run.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { ChangeCollector, CollectedChanges } from "../changes/change-collector.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { LeaseLost } from "../lease/lease-writer.ts";
import { decideUsage } from "../limits/usage-meter.ts";

interface StoredEnd extends Partial<CollectedChanges> {
  readonly isHandedBack?: boolean;
}

/** Patches of a run that ends in the middle of its turn. Undefined: nothing has changed. */
export async function patchesAtEnd(
  { lease, saver }: AttemptServices,
  changes: ChangeCollector | undefined,
): Promise<CollectedChanges | undefined> {
  if (!saver.isTouched || changes === undefined) {
    return undefined;
  }
  return changes.atEnd((await lease.getAggregate()).run);
}

/**
 * Stores the log, the usage and the files together with the decision. A failure to store the log or the files must not
 * prevent the end of the run from being stored.
 */
export async function storeEnd(
  { deps, lease, meter, pictures, recorder, saver }: AttemptServices,
  decideEnd: (edit: RunEdit) => void,
  stored: StoredEnd = {},
): Promise<Run> {
  const warn = (message: string, error: unknown) => deps.log.warn(message, { runId: deps.run.id, error });
  await pictures.flush();
  await recorder.flush().catch((error) => warn("run.events.not_stored", error));
  const used = meter.take();
  const decide = (edit: RunEdit) => {
    decideUsage(edit, used);
    decideEnd(edit);
  };
  const { run } = await saver.saveWith(decide, { files: [], ...stored }).catch((error) => {
    if (error instanceof LeaseLost) {
      throw error;
    }
    warn("attempt.files.not_stored", error);
    return lease.write(decide);
  });
  return run;
}
