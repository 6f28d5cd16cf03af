import type { Run } from "../../model/runs/run.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { ChangeCollector, CollectedChanges } from "../changes/change-collector.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { LeaseLost } from "../lease/lease-writer.ts";
import { decideUsage } from "../limits/usage-meter.ts";

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
  services: AttemptServices,
  decideEnd: (edit: RunEdit) => void,
  stored: CollectedChanges = { files: [] },
): Promise<Run> {
  const { deps, lease, saver } = services;
  const decide = await withLog(services, decideEnd);
  const { run } = await saver.saveWith(decide, stored).catch((error) => {
    if (error instanceof LeaseLost) {
      throw error;
    }
    deps.log.warn("attempt.files.not_stored", { runId: deps.run.id, error });
    return lease.write(decide);
  });
  return run;
}

/** Stores what is left of the log, the usage and the files together with the decision by which the attempt gives up the run. */
export async function storeHandBack(
  services: AttemptServices,
  decideEnd: (edit: RunEdit) => void,
): Promise<Run> {
  const decide = await withLog(services, decideEnd);
  const { run } = await services.saver.endWith(decide);
  return run;
}

async function withLog(
  { deps, meter, pictures, recorder }: AttemptServices,
  decide: (edit: RunEdit) => void,
): Promise<(edit: RunEdit) => void> {
  await pictures.flush();
  await recorder
    .flush()
    .catch((error) => deps.log.warn("run.events.not_stored", { runId: deps.run.id, error }));
  const used = meter.take();
  return (edit) => {
    decideUsage(edit, used);
    decide(edit);
  };
}
