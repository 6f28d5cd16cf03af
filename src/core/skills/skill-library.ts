import type { TeamId } from "../ids.ts";
import type { TeamRepository } from "../repositories/repository-name.ts";
import type { Skill, SkillFile } from "./skill.ts";
import type { WantedSkill } from "./skill-spec.ts";

export type Freshness = "recent" | "now";

/**
 * The skills that repositories hold, each read as the repository stands now (`now`) or stood a moment ago
 * (`recent`). All fail with `resource_not_found` where the team can read no such repository, with
 * `resource_unavailable` where it could not be read in time, and with `operation_not_supported` where this process
 * cannot read repositories at all.
 */
export interface SkillLibrary {
  /** Undefined: the repository has no such skill. */
  find(repository: TeamRepository, wanted: WantedSkill): Promise<Skill | undefined>;
  /** All skills in the folders where agents look for them. */
  list(repository: TeamRepository, freshness: Freshness): Promise<readonly Skill[]>;
  /**
   * The skill's files as they were at its commit, its SKILL.md among them. Fails with `environment_setup_failed` where
   * they are too many for a workspace.
   */
  readFiles(teamId: TeamId, skill: Skill): Promise<readonly SkillFile[]>;
}
