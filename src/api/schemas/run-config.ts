import { z } from "zod";
import { textOfBytes } from "./text.ts";

const BASE_PROMPT_BYTES = 64 * 1024;
const IDLE_MINUTES_MAX = 60;
/** Written with a `$` and braces around the secret's name. */
const SECRETS = "Values may name secrets: `$` and the name in braces.";
/** Taken all the same: public clients send these with every request, and want them back. */
const NOT_USED = "Kept and given back; no agent of this version uses it.";
const MCP_KINDS = ["command", "url", "warp_id"] as const;

const McpServerConfig = z
  .looseObject({
    command: z.string().optional().describe("A program that speaks MCP on its standard streams."),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional().describe(SECRETS),
    url: z.string().optional().describe("The address of a remote server."),
    headers: z.record(z.string(), z.string()).optional().describe(SECRETS),
    warp_id: z.string().optional().describe("A shared server, by its id or name."),
  })
  .meta({ id: "MCPServerConfig", description: "Exactly one of `command`, `url` and `warp_id`." });

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
  model_id: z.string().optional(),
  reasoning_level: z.string().optional(),
});

const Budget = z.looseObject({
  max_turns: z.int().min(1).optional(),
  max_minutes: z.number().positive().optional(),
  max_tokens: z.int().min(1).optional(),
  max_cost_usd: z.number().positive().optional(),
});

export const AmbientAgentConfig = z
  .looseObject({
    name: z.string().optional(),
    model_id: z.string().optional(),
    base_prompt: textOfBytes(BASE_PROMPT_BYTES).optional(),
    environment_id: z.string().optional(),
    skill_spec: z.string().optional().describe("`owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`."),
    skills: z.array(z.string()).optional().describe(NOT_USED),
    mcp_servers: McpServers.optional().describe(NOT_USED),
    computer_use_enabled: z.boolean().optional().describe(NOT_USED),
    worker_host: z.string().optional().describe("Only workers of this name take the run. Not available yet."),
    idle_timeout_minutes: z.int().min(1).max(IDLE_MINUTES_MAX).optional(),
    harness: Harness.optional(),
    session_sharing: z
      .looseObject({ public_access: z.enum(["VIEWER", "EDITOR"]).optional() })
      .optional()
      .describe(NOT_USED),
    budget: Budget.optional().describe("An empty one sets no limit; others are not available yet."),
    permission_policy: z.enum(["allow", "ask"]).optional(),
  })
  .meta({ id: "AmbientAgentConfig", description: "Unknown members are kept and given back." });
