import type { Viewer } from "../people/principal.ts";

/** When skills were used. */
export interface SkillHistory {
  /** When the newest run of each skill that `viewer` may see was created, by the skill's id. */
  lastRuns(viewer: Viewer, skillIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}
