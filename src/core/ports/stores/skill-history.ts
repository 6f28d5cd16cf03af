import type { Viewer } from "../../model/people/principal.ts";

/** Records when skills were used. */
export interface SkillHistory {
  /** The creation time of the newest visible run of each skill, by the skill's id. */
  lastRuns(viewer: Viewer, skillIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}
