import { defined } from "../../basics/defined.ts";
import { runRepositoryOf } from "../../model/runs/run-repository.ts";
import { type Skill, skillId } from "../../model/skills/skill.ts";
import type { SkillFinder } from "../skills/skill-finder.ts";
import { type NewRun, secretNamesOf } from "./new-run.ts";

/**
 * Finds the skills that the configuration of a new run names, unless the request brings them. Without a prompt and
 * without a skill of its own, the first of `skills` is the task.
 */
export async function withSkills(finder: Pick<SkillFinder, "find">, request: NewRun): Promise<NewRun> {
  const { config = {}, creator, namedAgent, prompt } = request;
  const find = (spec: string) =>
    finder.find(spec, {
      viewer: creator,
      secretNames: secretNamesOf(namedAgent),
      environmentId: config.environment_id,
      repository: runRepositoryOf(config),
    });
  const skills = request.skills ?? eachOnce(await Promise.all((config.skills ?? []).map(find)));
  const own =
    config.skill_spec === undefined ? undefined : (request.skill ?? (await find(config.skill_spec)));
  const skill = own ?? (prompt.trim() === "" ? skills[0] : undefined);
  return { ...request, skills, ...defined({ skill }) };
}

function eachOnce(skills: readonly Skill[]): readonly Skill[] {
  return skills.filter(
    (skill, index) => skills.findIndex((each) => skillId(each) === skillId(skill)) === index,
  );
}
