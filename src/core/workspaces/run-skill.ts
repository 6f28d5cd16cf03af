import type { AttemptDeps } from "../attempts/attempt-deps.ts";
import { AppError } from "../errors.ts";
import { skillDirectory } from "../skills/skill-in-run.ts";
import type { InitialContents } from "./workspace.ts";

/**
 * The files of the run's skill for its first workspace. Without them the agent would do other work than was asked
 * for.
 */
export async function runSkill({
  run,
  skills,
}: Pick<AttemptDeps, "run" | "skills">): Promise<Pick<InitialContents, "skill">> {
  const { skillSnapshot: skill, teamId } = run;
  if (skill === undefined) {
    return {};
  }
  try {
    return { skill: { directory: skillDirectory(skill), files: await skills.readFiles(teamId, skill) } };
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) {
      throw error;
    }
    const message = `The files of the skill ${skill.name} could not be read: ${error.message}`;
    throw new AppError("environment_setup_failed", message, { cause: error });
  }
}
