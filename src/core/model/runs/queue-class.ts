import type { RunDefinition } from "./run.ts";
import { PERSON_WAITS_SOURCES, SCHEDULE_SOURCE } from "./sources.ts";

/** Within a team, runs of a lower class begin first. `person`: a person waits for the answer. `batch`: one of many, or scheduled. */
export const QUEUE_CLASSES = { person: 0, api: 1, batch: 2 } as const;

export function queueClassOf(
  source: RunDefinition["source"],
  isOfBatch: boolean,
): RunDefinition["queueClass"] {
  if (isOfBatch || source === SCHEDULE_SOURCE) {
    return QUEUE_CLASSES.batch;
  }
  return PERSON_WAITS_SOURCES.has(source) ? QUEUE_CLASSES.person : undefined;
}
