import { AppError } from "../../basics/errors.ts";
import { type PlacedSkill, placedSkills } from "../../model/runs/skill-in-run.ts";
import { teamAccessOf } from "../../model/secrets/git-token.ts";
import type { SkillFiles } from "../../model/skills/skill.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

/**
 * The files of the run's skills for its first workspace. Without them the agent would do other work than was asked
 * for.
 */
export async function runSkills({
  agents,
  run,
  skills,
}: Pick<AttemptDeps, "agents" | "run" | "skills">): Promise<readonly SkillFiles[]> {
  const read = async ({ place, skill }: PlacedSkill): Promise<SkillFiles> => {
    try {
      return { ...place, files: await skills.readFiles(teamAccessOf(run), skill) };
    } catch (error) {
      if (!(error instanceof AppError) || error.retryable) {
        throw error;
      }
      const message = `The files of the skill ${skill.name} could not be read: ${error.message}`;
      throw new AppError("environment_setup_failed", message, { cause: error });
    }
  };
  return Promise.all(placedSkills(run, agents.skillFolder?.(run.agent)).map(read));
}
