import { AppError } from "../errors.ts";
import type { Beginning } from "../ports/workspace.ts";
import { skillDirectory } from "../skills/skill-in-run.ts";
import type { AttemptParts } from "./attempt-parts.ts";

/** The files of the run's skill, for its first workspace. Without them it would do other work than was asked for. */
export async function givenSkill({
  run,
  skills,
}: Pick<AttemptParts, "run" | "skills">): Promise<Pick<Beginning, "skill">> {
  const { skillSnapshot: skill, teamId } = run;
  if (skill === undefined) return {};
  try {
    return { skill: { directory: skillDirectory(skill), files: await skills.readFiles(teamId, skill) } };
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error;
    const message = `The files of the skill ${skill.name} could not be read: ${error.message}`;
    throw new AppError("environment_setup_failed", message, { cause: error });
  }
}
