import type { Run } from "../runs/run.ts";
import { type Skill, skillId } from "./skill.ts";

const SKILLS_DIRECTORY = ".skills";

/** Where the files of a run's skill are, below the agent's working directory. */
export function skillDirectory({ path, repository }: Skill): string {
  return `${SKILLS_DIRECTORY}/${path.split("/").at(-2) ?? repository.name}`;
}

/** What holds for the agent in all turns: the skill's instructions, and the caller's own behind them. */
export function basePromptOf({ config, skillSnapshot: skill }: Run): string | undefined {
  const own = config.base_prompt;
  if (skill === undefined) return own;
  const where = `The files of this skill (${skillId(skill)}) are in ${skillDirectory(skill)}, below the working directory. Paths in its instructions start there.`;
  return [skill.basePrompt, where, own].filter(isText).join("\n\n");
}

/** What is asked of the agent first. A skill alone is a request too. */
export function requestOf({ prompt, skillSnapshot: skill }: Run): string {
  if (prompt.trim() !== "" || skill === undefined) return prompt;
  return `Carry out the skill "${skill.name}", as its instructions say.`;
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
