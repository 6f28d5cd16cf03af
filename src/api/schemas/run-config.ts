import { z } from "zod";
import { skillSpecProblem } from "../../core/skills/skill-spec.ts";
import { CONFIG_EXAMPLE, MCP_SERVER_EXAMPLE } from "./run-examples.ts";

const IDLE_MINUTES_MAX = 60;
/** Written with a `$` and braces around the secret's name. */
const SECRETS =
  "Values may name secrets: `$` and the name in braces. They are filled in when the run starts.";
/** Taken all the same: public clients send these with every request, and want them back. */
const NOT_USED = "Kept and given back; no agent of this version uses it.";
const MCP_KINDS = ["command", "url", "warp_id"] as const;

const McpServerConfig = z
  .looseObject({
    command: z
      .string()
      .optional()
      .describe(
        "A program that speaks MCP on its standard streams; it runs in the sandbox, beside the agent.",
      ),
    args: z.array(z.string()).optional().describe("The program's arguments. They may name no secrets."),
    env: z.record(z.string(), z.string()).optional().describe(SECRETS),
    url: z
      .string()
      .optional()
      .describe("The address of a remote server. The agent reaches it without learning its keys."),
    headers: z.record(z.string(), z.string()).optional().describe(SECRETS),
    warp_id: z.string().optional().describe("A shared server, by its id or name. There are none here: 422."),
  })
  .meta({
    id: "MCPServerConfig",
    description: "A tool server for the agent: exactly one of `command`, `url` and `warp_id`.",
    examples: [MCP_SERVER_EXAMPLE],
  });

const McpServers = z.record(z.string(), McpServerConfig).superRefine((servers, context) => {
  for (const [name, server] of Object.entries(servers)) {
    const given = MCP_KINDS.filter((kind) => server[kind] !== undefined);
    if (given.length === 1) continue;
    const has = given.length === 0 ? "none" : given.join(" and ");
    const message = `MCP server "${name}" must have exactly one of command, url and warp_id, and has ${has}`;
    context.addIssue({ code: "custom", path: [name], message });
  }
});

const Harness = z.looseObject({
  type: z
    .string()
    .optional()
    .describe("A name of the agent catalogue; `oz` means the server's default agent."),
  model_id: z.string().optional().describe("For this agent alone; beats the configuration's `model_id`."),
  reasoning_level: z.string().optional().describe("As the agent names it."),
});

const Budget = z.looseObject({
  max_turns: z.int().min(1).optional().describe("Prompts to the agent."),
  max_minutes: z
    .number()
    .positive()
    .optional()
    .describe("Of the agent at work; not while it waits for a person or a worker."),
  max_tokens: z.int().min(1).optional().describe("In and out, of all turns."),
  max_cost_usd: z
    .number()
    .positive()
    .optional()
    .describe("As the agent or the price list reckons it, whichever is more."),
});

/** What names no skill is told at its member. */
export const SkillSpec = z.string().superRefine((text, context) => {
  const message = skillSpecProblem(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

export const AmbientAgentConfig = z
  .looseObject({
    name: z.string().optional().describe("Runs can be listed by it."),
    model_id: z
      .string()
      .optional()
      .describe(
        "The model, as the agent names it. One that it does not know is told in the log, and its own choice taken.",
      ),
    base_prompt: z
      .string()
      .optional()
      .describe(
        "Instructions for the whole session, given to the agent with its start or ahead of its first prompt.",
      ),
    environment_id: z
      .string()
      .optional()
      .describe("The environment that the run works in. Yours or the team's."),
    skill_spec: SkillSpec.optional().describe("`owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`."),
    skills: z.array(z.string()).optional().describe(NOT_USED),
    mcp_servers: McpServers.optional().describe(
      "Tool servers for the agent, at most 20. Names are 1 to 64 letters, digits, _ and -.",
    ),
    computer_use_enabled: z.boolean().optional().describe(NOT_USED),
    worker_host: z
      .string()
      .optional()
      .describe("Only workers of this name take the run, whenever there is one."),
    idle_timeout_minutes: z
      .int()
      .min(1)
      .max(IDLE_MINUTES_MAX)
      .optional()
      .describe("How long an agent that waits for a person is kept running."),
    harness: Harness.optional().describe("Which agent does the work."),
    session_sharing: z
      .looseObject({ public_access: z.enum(["VIEWER", "EDITOR"]).optional().describe("What strangers may.") })
      .optional()
      .describe(NOT_USED),
    budget: Budget.optional().describe(
      "What the run may take in all its turns. When it is used up, the turn is stopped and the run is FAILED with `budget_exceeded`.",
    ),
    permission_policy: z
      .enum(["allow", "ask"])
      .optional()
      .describe(
        "`ask`: what the agent wants leave for is asked of a person, and the run is BLOCKED until somebody answers. " +
          "`allow`, the default: it may, within its sandbox.",
      ),
  })
  .meta({
    id: "AmbientAgentConfig",
    description: "How a run is to be done. Unknown members are kept and given back.",
    examples: [CONFIG_EXAMPLE],
  });
