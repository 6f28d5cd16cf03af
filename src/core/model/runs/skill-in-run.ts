import { type Skill, type SkillPlace, skillId } from "../skills/skill.ts";
import { pathToFiles } from "../workspaces/input-file.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import { isReview, REVIEW_INSTRUCTIONS } from "./review.ts";
import type { Run } from "./run.ts";

const SKILLS_DIRECTORY = ".skills";
const ARTIFACTS =
  "Put files that are for people and not for the repository, such as a report, into the directory $ERRAND_ARTIFACTS_DIR.";

/** A skill of a run, and where its files are. */
export interface PlacedSkill {
  readonly skill: Skill;
  readonly place: SkillPlace;
}

/**
 * Where the files of a run's skills are: the skill that it carries out in the workspace, and each skill of its
 * configuration in `agentFolder`, where its agent looks for skills. The workspace has those of an agent that does not.
 */
export function placedSkills(
  { skillSnapshot: task, skillSnapshots = [] }: Pick<Run, "skillSnapshot" | "skillSnapshots">,
  agentFolder: string | undefined,
): readonly PlacedSkill[] {
  const names = new Set<string>();
  const inWorkspace = (skill: Skill): PlacedSkill => {
    const place = { root: "directory", directory: `${SKILLS_DIRECTORY}/${freeName(skill, names)}` } as const;
    return { skill, place };
  };
  const ofTask = task === undefined ? [] : [inWorkspace(task)];
  if (agentFolder === undefined) {
    const others = skillSnapshots.filter((skill) => task === undefined || skillId(skill) !== skillId(task));
    return [...ofTask, ...others.map(inWorkspace)];
  }
  const namesInHome = new Set<string>();
  const inHome = (skill: Skill): PlacedSkill => {
    const place = { root: "home", directory: `${agentFolder}/${freeName(skill, namesInHome)}` } as const;
    return { skill, place };
  };
  return [...ofTask, ...skillSnapshots.map(inHome)];
}

/** Skills of different repositories may have the same name. */
function freeName({ path, repository }: Skill, taken: Set<string>): string {
  const folder = path.split("/").at(-2) ?? repository.name;
  let name = folder;
  for (let number = 2; taken.has(name); number += 1) {
    name = `${folder}-${number}`;
  }
  taken.add(name);
  return name;
}

/** The base prompt for all turns: the skill's instructions, followed by the caller's own. */
export function basePromptOf(
  run: Run,
  workspace: Pick<Workspace, "directory" | "workingDirectory">,
  agentFolder?: string,
): string | undefined {
  const { config, skillSnapshot: skill } = run;
  const prefix = pathToFiles(workspace);
  const inWorkspace = placedSkills(run, agentFolder).filter(({ place }) => place.root === "directory");
  const others = inWorkspace.slice(skill === undefined ? 0 : 1);
  const review = isReview(run) ? REVIEW_INSTRUCTIONS : undefined;
  const own = joined([config.base_prompt, review, skillList(others, prefix)]);
  // An agent that works inside a repository must write its artifacts outside of it.
  const artifactsNote = prefix === "" ? undefined : ARTIFACTS;
  if (skill === undefined) {
    return joined([own, artifactsNote]);
  }
  const directory = `${prefix}${inWorkspace[0]?.place.directory}`;
  const where = `The files of this skill (${skillId(skill)}) are in ${directory}, from the working directory. Paths in its instructions start there.`;
  return joined([skill.basePrompt, where, own, artifactsNote]);
}

/** For an agent that does not look for skills itself. */
function skillList(skills: readonly PlacedSkill[], prefix: string): string | undefined {
  if (skills.length === 0) {
    return undefined;
  }
  const lines = skills.map(
    ({ place, skill: { description, name } }) =>
      `- ${name}: ${prefix}${place.directory}/SKILL.md. ${description}`,
  );
  return ["Skills for you. Read the file of one before you do what it describes:", ...lines].join("\n");
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const whole = texts.filter(isText).join("\n\n");
  return whole === "" ? undefined : whole;
}

/** The request for the first turn. A skill without a prompt is a request too. */
export function requestOf({ prompt, skillSnapshot: skill }: Pick<Run, "prompt" | "skillSnapshot">): string {
  if (prompt.trim() !== "" || skill === undefined) {
    return prompt;
  }
  return `Carry out the skill "${skill.name}", as its instructions say.`;
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
