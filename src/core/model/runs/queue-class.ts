import { PERSON_WAITS_SOURCES, type RunSource, SCHEDULE_SOURCE } from "./sources.ts";

/** Within a team, runs of a higher priority begin first. */
export const RUN_PRIORITIES = ["high", "normal", "low"] as const;
export type RunPriority = (typeof RUN_PRIORITIES)[number];

/** Within a priority, runs of a lower class begin first. `person`: a person waits for the answer. `batch`: one of many, or scheduled. */
export const QUEUE_CLASSES = { person: 0, api: 1, batch: 2 } as const;

/** Undefined: `api`. */
export function queueClassOf(source: RunSource, isOfBatch: boolean): number | undefined {
  if (isOfBatch || source === SCHEDULE_SOURCE) {
    return QUEUE_CLASSES.batch;
  }
  return PERSON_WAITS_SOURCES.has(source) ? QUEUE_CLASSES.person : undefined;
}
