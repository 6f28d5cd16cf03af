import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseRepositoryName } from "../../core/model/repositories/repository-name.ts";
import { skillId } from "../../core/model/skills/skill.ts";
import {
  SKILL_SORTS,
  type SkillGroup,
  type SkillVariant,
} from "../../core/requests/skills/skill-catalogue.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

/** Examples for the OpenAPI document. A test validates each against its schema. */
const RUN_SKILL_EXAMPLE = {
  name: "release-notes",
  description: "Writes the release notes of a version.",
  full_path: ".agents/skills/release-notes/SKILL.md",
};

const AGENT_SKILL_EXAMPLE = {
  name: RUN_SKILL_EXAMPLE.name,
  variants: [
    {
      id: `acme/tools:${RUN_SKILL_EXAMPLE.full_path}`,
      base_prompt: "Read the log since the last tag, and write the notes into CHANGES.md.",
      description: RUN_SKILL_EXAMPLE.description,
      environments: [{ uid: "3kTg9mWqLx0ZbY7cRf5VnH", name: "tools" }],
      source: { owner: "acme", name: "tools", skill_path: RUN_SKILL_EXAMPLE.full_path },
      last_run_timestamp: "2026-03-01T09:00:00.000Z",
    },
  ],
};

const REPOSITORY_FORM = "must be owner/repo";

export const ListAgentsQuery = z.object({
  repo: z
    .string()
    .refine((text) => text === "" || parseRepositoryName(text) !== undefined, REPOSITORY_FORM)
    .optional()
    .describe(
      "`owner/repo`: only the skills of this repository. Default: the skills of all environments of the team.",
    ),
  refresh: z
    .enum(["true", "false"])
    .default("false")
    .describe("`true`: read the repositories now. Default: a copy that is at most one minute old."),
  sort_by: z
    .enum(SKILL_SORTS)
    .default("name")
    .describe("`last_run`: the most recently used skill first, unused skills last."),
});
export type ListAgentsQuery = z.output<typeof ListAgentsQuery>;

const SkillEnvironment = z.object({
  uid: z.string().describe("The environment's uid."),
  name: z.string().describe("The name of the environment."),
});

const SkillSource = z.object({
  owner: z.string().describe("The owner of the repository."),
  name: z.string().describe("The name of the repository."),
  skill_path: z.string().describe("The path of its SKILL.md in the repository."),
});

const AgentSkillVariant = z.object({
  id: z.string().describe("`owner/repo:path`, the value for `skill` and `config.skill_spec` of a new run."),
  base_prompt: z.string().describe("The instructions in SKILL.md."),
  description: z.string().describe("The purpose of the skill, from its SKILL.md. May be empty."),
  environments: z.array(SkillEnvironment).describe("The environments that contain the repository."),
  source: SkillSource.describe("The location of the skill."),
  last_run_timestamp: Timestamp.optional().describe(
    "When a run of the skill last started, of the runs that you can see.",
  ),
});

const AgentSkill = z
  .object({
    name: z.string().describe("The name in SKILL.md, otherwise the name of the folder."),
    variants: z.array(AgentSkillVariant).describe("The skills with this name, of all repositories."),
  })
  .meta({
    id: "AgentSkill",
    description: "Instructions for agents, stored in a repository.",
    examples: [AGENT_SKILL_EXAMPLE],
  });

export const ListAgentsResponse = z
  .object({ agents: z.array(AgentSkill).describe("One entry per name."), page_info: PageInfo })
  .meta({
    id: "ListAgentsResponse",
    description: "The skills that can start a run.",
    examples: [{ agents: [AGENT_SKILL_EXAMPLE], page_info: { has_next_page: false } }],
  });
export type ListAgentsResponse = z.output<typeof ListAgentsResponse>;

export function agentSkillOf({ name, variants }: SkillGroup): ListAgentsResponse["agents"][number] {
  return { name, variants: variants.map(variantOf) };
}

function variantOf({ environments, lastRunAt, skill }: SkillVariant): z.output<typeof AgentSkillVariant> {
  const { owner, name } = skill.repository;
  return defined({
    id: skillId(skill),
    base_prompt: skill.basePrompt,
    description: skill.description,
    environments: environments.map(({ id, config }) => ({ uid: id, name: config.name })),
    source: { owner, name, skill_path: skill.path },
    last_run_timestamp: lastRunAt?.toISOString(),
  });
}
