import { z } from "zod";
import { SHARE_ACCESSES } from "../../core/model/people/share-link.ts";
import { PULL_REQUEST_SETTINGS } from "../../core/model/repositories/pull-request-setting.ts";
import { outputSchemaProblem } from "../../core/model/runs/output-schema.ts";
import { RUN_PRIORITIES } from "../../core/model/runs/queue-class.ts";
import type { RunConfig } from "../../core/model/runs/run.ts";
import { skillSpecProblem } from "../../core/model/skills/skill-spec.ts";
import { ONE_OF, withoutEffect } from "./marks.ts";
import { CONFIG_EXAMPLE, MCP_SERVER_EXAMPLE } from "./run-examples.ts";
import { SecretList } from "./secret-list.ts";

const IDLE_MINUTES_MAX = 60;
/** The reference is `$` and the name of the secret in braces. */
const SECRETS =
  "Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.";
/** Accepted nevertheless, because public clients send these members with each request and expect them back. */
const NOT_USED =
  "Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.";
const MCP_KINDS = ["command", "url", "warp_id"] as const;

type Members = Readonly<Record<string, unknown>>;

const SKILLS_MAX = 50;

function isGiven(member: unknown): boolean {
  return typeof member === "string" && member !== "";
}

/** Only a program has arguments and variables. */
function isNoProgram({ command }: Members): boolean {
  return !isGiven(command);
}
const Arguments = z.array(z.string());
const Values = z.record(z.string(), z.string());
/** The variants of `MCPServerConfig` in the document. Requests are checked as a whole, so that errors are clear. */
const MCP_VARIANTS = [
  z
    .looseObject({
      command: z.string().describe("A program that speaks MCP on its standard streams."),
      args: Arguments.optional().describe("The arguments of the program. They must not refer to secrets."),
      env: Values.optional().describe(SECRETS),
    })
    .meta({
      id: "MCPServerProgram",
      description: "A program in the sandbox, next to the agent.",
    }),
  z
    .looseObject({
      url: z.string().describe("The URL of the server."),
      headers: Values.optional().describe(SECRETS),
    })
    .meta({
      id: "MCPServerAddress",
      description: "A remote server. The agent reaches it without access to its keys.",
    }),
  z
    .looseObject({ warp_id: z.string().describe("The id or name of the server.") })
    .meta({ id: "MCPServerReference", description: "A shared server." }),
];

function isNotRemote({ url }: Members): boolean {
  return !isGiven(url);
}

/** A schedule has no response that could show the address. */
function isOfSchedule(_siblings: Members, { agent_config }: Members): boolean {
  return agent_config !== undefined;
}

export const McpServerConfig = z
  .looseObject({
    command: z
      .string()
      .optional()
      .describe(
        "A program that speaks MCP on its standard streams. It runs in the sandbox, next to the agent.",
      ),
    args: withoutEffect(
      z
        .array(z.string())
        .optional()
        .describe("The arguments of the program. They must not refer to secrets."),
      isNoProgram,
    ),
    env: withoutEffect(z.record(z.string(), z.string()).optional().describe(SECRETS), isNoProgram),
    url: z
      .string()
      .optional()
      .describe("The URL of a remote server. The agent reaches it without access to its keys."),
    headers: withoutEffect(z.record(z.string(), z.string()).optional().describe(SECRETS), isNotRemote),
    warp_id: z
      .string()
      .optional()
      .describe("An MCP server of the team, by its uid or name: `GET /agent/mcp-servers` lists them."),
  })
  .meta({
    id: "MCPServerConfig",
    description: "An MCP server for the agent: exactly one of `command`, `url` and `warp_id`.",
    examples: [MCP_SERVER_EXAMPLE],
    [ONE_OF]: MCP_VARIANTS.map((variant) => variant.meta()?.id),
  });

export const McpServers = z.record(z.string(), McpServerConfig).superRefine((servers, context) => {
  for (const [name, server] of Object.entries(servers)) {
    const kinds = MCP_KINDS.filter((kind) => server[kind] !== undefined);
    if (kinds.length === 1) {
      continue;
    }
    const has = kinds.length === 0 ? "none" : kinds.join(" and ");
    const message = `MCP server "${name}" must have exactly one of command, url and warp_id, and has ${has}`;
    context.addIssue({ code: "custom", path: [name], message });
  }
});

export const Harness = z.looseObject({
  type: z.string().optional().describe("A name of the agent catalogue. `oz` is the server's default agent."),
  model_id: z
    .string()
    .optional()
    .describe("The model of this agent. It takes precedence over `model_id` of the configuration."),
  reasoning_level: z.string().optional().describe("The reasoning level, as the agent names it."),
});

const Budget = z.looseObject({
  max_turns: z.int().min(1).optional().describe("The maximum number of prompts to the agent."),
  max_minutes: z
    .number()
    .positive()
    .optional()
    .describe(
      "The maximum working time of the agent. Time in which it waits for a person or a worker does not count.",
    ),
  max_tokens: z
    .int()
    .min(1)
    .optional()
    .describe("The maximum number of input and output tokens of all turns."),
  max_cost_usd: z
    .number()
    .positive()
    .optional()
    .describe("The maximum cost, computed by the agent or from the price list, whichever is higher."),
});

/** Reports an invalid skill at its member. */
export const SkillSpec = z.string().superRefine((text, context) => {
  const message = skillSpecProblem(text);
  if (message !== undefined) {
    context.addIssue({ code: "custom", message });
  }
});

const OutputSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const problem = outputSchemaProblem(schema);
  if (problem !== undefined) {
    context.addIssue({ code: "custom", path: [...problem.path], message: problem.message });
  }
});

/** The harness has a model of its own. */
function isOtherModel({ harness, model_id }: Members): boolean {
  const own: unknown = Object(harness).model_id;
  return typeof own === "string" && own !== "" && own !== model_id;
}

/** The request names another skill beside its configuration. */
function isOtherSkill({ skill_spec }: Members, { skill }: Members): boolean {
  return typeof skill === "string" && skill !== "" && skill !== skill_spec;
}

export const AmbientAgentConfig = z
  .looseObject({
    name: z.string().optional().describe("A name by which runs can be listed."),
    model_id: withoutEffect(
      z
        .string()
        .optional()
        .describe(
          "The model, as the agent names it. If the agent does not know it, the run logs this and uses the " +
            "agent's default model.",
        ),
      isOtherModel,
    ),
    base_prompt: z
      .string()
      .optional()
      .describe(
        "Instructions for the whole session. The agent receives them at its start or before its first prompt.",
      ),
    environment_id: z
      .string()
      .optional()
      .describe("The environment in which the run works: one of your own or of the team."),
    skill_spec: withoutEffect(
      SkillSpec.optional().describe("`owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`."),
      isOtherSkill,
    ),
    skills: z
      .array(z.string())
      .optional()
      .describe(
        "Skills for the agent, named like `skill_spec`, with which it must not be combined. They are put where the " +
          `agent looks for skills. Without a prompt the first one is the task. At most ${SKILLS_MAX}.`,
      ),
    mcp_servers: McpServers.optional().describe(
      "MCP servers for the agent, at most 20. Names have 1 to 64 letters, digits, `_` and `-`.",
    ),
    computer_use_enabled: withoutEffect(z.boolean().optional().describe(NOT_USED)),
    computer_use_model_id: withoutEffect(z.string().optional().describe(NOT_USED)),
    worker_host: z
      .string()
      .optional()
      .describe("Only workers with this name may execute the run, even if it has to wait for one."),
    priority: z
      .enum(RUN_PRIORITIES)
      .optional()
      .describe(
        "Which of the queued runs of the team start first. Other teams do not wait longer because of it. A `low` run that " +
          "has waited for an hour counts as `normal` (default). The condition `priorities` of a policy says who may use it.",
      ),
    secrets: SecretList.optional().describe(
      "The only secrets of the team that the run gets, and no personal ones. They must be among those of the named " +
        "agent that executes the run, if it has a list. Absent or empty: those of the named agent, else those of the " +
        "environment, else all.",
    ),
    idle_timeout_minutes: z
      .int()
      .min(0)
      .max(IDLE_MINUTES_MAX)
      .optional()
      .describe("How long an agent that waits for a person is kept running. 0: not at all."),
    harness: Harness.optional().describe("The agent that does the work."),
    session_sharing: withoutEffect(
      z
        .looseObject({
          public_access: z
            .enum(SHARE_ACCESSES)
            .optional()
            .describe("What users outside the team may do: see the run, or also send follow-ups."),
        })
        .optional()
        .describe(
          "Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it " +
            "(`sharing` of the team), nothing is shared and the response names the member as ignored.",
        ),
      isOfSchedule,
    ),
    budget: Budget.optional().describe(
      "The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED " +
        "with `budget_exceeded`.",
    ),
    permission_policy: z
      .enum(["allow", "ask"])
      .optional()
      .describe(
        "`ask`: a person decides each permission that the agent requests, and the run is BLOCKED until then. `allow` " +
          "(default): all permissions are granted, within the sandbox.",
      ),
    repository: z
      .string()
      .optional()
      .describe(
        "`owner/name`: a repository in which the run works. It is added to those of the environment, if there is one.",
      ),
    repository_guessed: withoutEffect(
      z
        .boolean()
        .optional()
        .describe(
          "`true`: nobody named `repository`; the client guessed it, for example from the clone in which a command ran. " +
            "If it cannot be read, the run works without it and says so, instead of failing.",
        ),
      ({ repository }) => !isGiven(repository),
    ),
    ref: z
      .string()
      .optional()
      .describe(
        "What of `repository` is checked out: a branch, a tag or the full id of a commit. Default: its default branch. " +
          "Without `repository` it counts for the repository of the environment, which must have exactly one.",
      ),
    pull_request: z
      .enum(PULL_REQUEST_SETTINGS)
      .optional()
      .describe(
        "What Errand does at the end of a turn with changes in `repository` that the agent did not push. `draft` and " +
          "`ready`: it pushes them and opens a pull request. `off`: it opens none. Without `repository` it counts for " +
          "each repository of the environment. Default: `pull_request` of the environment, otherwise `off`, except " +
          "for requests of people in chats.",
      ),
    output_schema: OutputSchema.optional().describe(
      "A JSON Schema (2020-12, at most 64 KiB) for the answer of each turn. The agent is told to end its answer with a " +
        "matching JSON value, which `result.data` of the run contains. If it does not match, the agent may repair it " +
        "once in the same turn; after that the run is FAILED with `invalid_request` and the problems. `$ref` must begin with `#`.",
    ),
  })
  .meta({
    id: "AmbientAgentConfig",
    description:
      "The configuration of a run. Unknown members are stored and returned, and the response that accepts them names " +
      "them as ignored.",
    examples: [CONFIG_EXAMPLE],
  });

/**
 * The configuration that a request names, as the core calls it. The schema has the same members, but gives an absent one
 * the type undefined.
 */
export function runConfigOf(config: z.output<typeof AmbientAgentConfig>): RunConfig {
  const { secrets = [], ...others } = config;
  return (secrets.length === 0 ? others : config) as RunConfig;
}

/**
 * Checks the skills of a configuration in a request. Responses contain both members, if the first of `skills` is the
 * task.
 */
export function checkSkills(
  { skill_spec, skills = [] }: Pick<z.output<typeof AmbientAgentConfig>, "skill_spec" | "skills">,
  path: readonly string[],
  context: z.RefinementCtx,
): void {
  const refuse = (message: string, ...place: (string | number)[]) =>
    context.addIssue({ code: "custom", path: [...path, "skills", ...place], message });
  if (skill_spec !== undefined && skills.length > 0) {
    refuse("must not be combined with skill_spec");
  }
  if (skills.length > SKILLS_MAX) {
    refuse(`must name at most ${SKILLS_MAX} skills`);
  }
  for (const [index, skill] of skills.entries()) {
    const problem = skillSpecProblem(skill);
    if (problem !== undefined) {
      refuse(problem, index);
    }
  }
}
