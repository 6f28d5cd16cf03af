import { z } from "zod";
import { parseRepositoryName } from "../../core/repositories/repository-name.ts";
import { skillId } from "../../core/skills/skill.ts";
import { SKILL_SORTS, type SkillGroup, type SkillVariant } from "../../core/skills/skill-catalogue.ts";
import { AGENT_SKILL_EXAMPLE } from "./skill-examples.ts";
import { Timestamp } from "./text.ts";

const REPOSITORY_FORM = "must be owner/repo";

export const ListAgentsQuery = z.object({
  repo: z
    .string()
    .refine((text) => text === "" || parseRepositoryName(text) !== undefined, REPOSITORY_FORM)
    .optional()
    .describe("`owner/repo`: the skills of this repository. Default: those of all your team's environments."),
  refresh: z
    .enum(["true", "false"])
    .default("false")
    .describe("`true`: as the repositories are now. Default: as they were within the last minute."),
  sort_by: z
    .enum(SKILL_SORTS)
    .default("name")
    .describe("`last_run`: what ran last comes first, what never ran at the end."),
});
export type ListAgentsQuery = z.output<typeof ListAgentsQuery>;

const SkillEnvironment = z.object({
  uid: z.string().describe("The environment's uid."),
  name: z.string().describe("What it is called."),
});

const SkillSource = z.object({
  owner: z.string().describe("The owner of the repository."),
  name: z.string().describe("The repository."),
  skill_path: z.string().describe("The path of its SKILL.md in the repository."),
});

const AgentSkillVariant = z.object({
  id: z.string().describe("`owner/repo:path`, as create takes it in `skill` and `config.skill_spec`."),
  base_prompt: z.string().describe("What its SKILL.md tells the agent."),
  description: z.string().describe("What it is for, in its own words. May be empty."),
  environments: z.array(SkillEnvironment).describe("Those that have its repository."),
  source: SkillSource.describe("Where it lies."),
  last_run_timestamp: Timestamp.optional().describe("When a run was last started from it, of those you see."),
});

const AgentSkill = z
  .object({
    name: z.string().describe("What it calls itself; else the name of its folder."),
    variants: z.array(AgentSkillVariant).describe("The skills of this name, of all repositories."),
  })
  .meta({
    id: "AgentSkill",
    description: "Instructions for agents, kept in a repository.",
    examples: [AGENT_SKILL_EXAMPLE],
  });

export const ListAgentsResponse = z
  .object({ agents: z.array(AgentSkill).describe("One entry a name.") })
  .meta({
    id: "ListAgentsResponse",
    description: "The skills that runs can be started from.",
    examples: [{ agents: [AGENT_SKILL_EXAMPLE] }],
  });
export type ListAgentsResponse = z.output<typeof ListAgentsResponse>;

export function agentSkillOf({ name, variants }: SkillGroup): ListAgentsResponse["agents"][number] {
  return { name, variants: variants.map(variantOf) };
}

function variantOf({ environments, lastRunAt, skill }: SkillVariant): z.output<typeof AgentSkillVariant> {
  const { owner, name } = skill.repository;
  return {
    id: skillId(skill),
    base_prompt: skill.basePrompt,
    description: skill.description,
    environments: environments.map(({ id, config }) => ({ uid: id, name: config.name })),
    source: { owner, name, skill_path: skill.path },
    ...(lastRunAt === undefined ? {} : { last_run_timestamp: lastRunAt.toISOString() }),
  };
}
