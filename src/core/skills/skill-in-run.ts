import { pathToFiles } from "../inputs/path-to-files.ts";
import type { Run } from "../runs/run.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import { type Skill, skillId } from "./skill.ts";

const SKILLS_DIRECTORY = ".skills";
const ARTIFACTS =
  "Files that are for people and not for the repository (a report, say) belong into the directory $ERRAND_ARTIFACTS_DIR.";

/** Where the files of a run's skill are, relative to the workspace's directory. */
export function skillDirectory({ path, repository }: Skill): string {
  return `${SKILLS_DIRECTORY}/${path.split("/").at(-2) ?? repository.name}`;
}

/** The base prompt for all turns: the skill's instructions, followed by the caller's own. */
export function basePromptOf(
  { config, skillSnapshot: skill }: Run,
  workspace: Pick<Workspace, "directory" | "workingDirectory">,
): string | undefined {
  const own = config.base_prompt;
  const prefix = pathToFiles(workspace);
  // An agent that works inside a repository must write its artifacts outside of it.
  const artifactsNote = prefix === "" ? undefined : ARTIFACTS;
  if (skill === undefined) {
    return joined([own, artifactsNote]);
  }
  const directory = `${prefix}${skillDirectory(skill)}`;
  const where = `The files of this skill (${skillId(skill)}) are in ${directory}, from the working directory. Paths in its instructions start there.`;
  return joined([skill.basePrompt, where, own, artifactsNote]);
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const whole = texts.filter(isText).join("\n\n");
  return whole === "" ? undefined : whole;
}

/** The request for the first turn. A skill without a prompt is a request too. */
export function requestOf({ prompt, skillSnapshot: skill }: Run): string {
  if (prompt.trim() !== "" || skill === undefined) {
    return prompt;
  }
  return `Carry out the skill "${skill.name}", as its instructions say.`;
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
