import type { TeamAccess, TeamRepository } from "../model/repositories/repository-name.ts";
import type { Skill, SkillFile } from "../model/skills/skill.ts";
import type { WantedSkill } from "../model/skills/skill-spec.ts";

export type Freshness = "recent" | "now";

/**
 * Reads the skills of repositories: the current state (`now`) or a recent one (`recent`). Fails with
 * `resource_not_found` when the team cannot read the repository, with `resource_unavailable` when it could not be
 * read in time, and with `operation_not_supported` when this process cannot read repositories.
 */
export interface SkillLibrary {
  /** Undefined: the repository has no such skill. */
  find(repository: TeamRepository, wanted: WantedSkill): Promise<Skill | undefined>;
  /** All skills in the folders where agents look for them. */
  list(repository: TeamRepository, freshness: Freshness): Promise<readonly Skill[]>;
  /**
   * The files of the skill at its commit, its SKILL.md included. Fails with `environment_setup_failed` when they are
   * too many for a workspace.
   */
  readFiles(access: TeamAccess, skill: Skill): Promise<readonly SkillFile[]>;
}
