import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { withRedactedValues } from "../../core/model/secrets/sealed-values.ts";
import type { KnownAgent, NamedAgentEdit } from "../../core/team/records/named-agent-service.ts";
import { clearable, withoutEffect } from "./marks.ts";
import { PageInfo } from "./page-info.ts";
import { Harness, McpServers, SkillSpec } from "./run-config.ts";
import { SecretList, secretListOf, secretNamesIn } from "./secret-list.ts";
import { Timestamp, textOfBytes, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;
const DESCRIPTION_BYTES = 4_000;
const SKILLS_MAX = 20;
const UNUSED_BYTES = 16_384;
const NOT_USED = "Stored and returned, but without effect: the response that accepts it names it as ignored.";

const EXAMPLE = {
  uid: "0195b2a0-0000-7000-8000-000000000007",
  name: "Reviewer",
  available: true,
  created_at: "2026-02-01T08:30:00.000Z",
  updated_at: "2026-02-01T08:30:00.000Z",
  default_runner_uid: "",
  memory: { attached_stores: [], auto_memory: { enabled: false } },
  secrets: [{ name: "REVIEW_TOKEN" }],
  skills: ["acme/skills:review"],
  prompt: "Be strict about tests.",
};

const Unused = z
  .unknown()
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value) ?? "") <= UNUSED_BYTES,
    `must have at most ${UNUSED_BYTES} bytes`,
  );

/** The members that a caller may set, besides the name. */
const settings = {
  description: clearable(textOfBytes(DESCRIPTION_BYTES).optional().describe("What the agent is for.")),
  prompt: clearable(
    z.string().optional().describe("The base prompt of its runs: instructions for the whole session."),
  ),
  base_model: clearable(z.string().optional().describe("The model of its runs.")),
  harness: Harness.optional().describe("The agent program that does the work of its runs."),
  environment_id: clearable(z.string().optional().describe("The environment of its runs: one of the team.")),
  mcp_servers: McpServers.optional().describe("The MCP servers of its runs."),
  skills: z.array(SkillSpec).max(SKILLS_MAX).optional().describe("The skills of its runs."),
  secrets: SecretList.optional().describe(
    "The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.",
  ),
  worker_host: clearable(z.string().optional().describe("The workers that execute its runs, by their name.")),
  on_behalf_of_enabled: z
    .boolean()
    .optional()
    .describe("Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false."),
  harness_auth_secrets: clearable(withoutEffect(Unused.optional().describe(NOT_USED))),
  base_harness: clearable(withoutEffect(Unused.optional().describe(NOT_USED))),
  credential_strategy: clearable(withoutEffect(Unused.optional().describe(NOT_USED))),
};

const AgentName = textOfCharacters(NAME_LENGTH).min(1);

export const CreateNamedAgentRequest = z
  .object({ name: AgentName.describe("The name of the agent."), ...settings })
  .meta({
    id: "CreateNamedAgentRequest",
    description: "A new named agent. Its runs take values that their requests leave out from it.",
    examples: [{ name: EXAMPLE.name, prompt: EXAMPLE.prompt, skills: EXAMPLE.skills }],
  });
export type CreateNamedAgentRequest = z.output<typeof CreateNamedAgentRequest>;

export const UpdateNamedAgentRequest = z
  .object({ name: AgentName.optional().describe("The name of the agent."), ...settings })
  .meta({
    id: "UpdateNamedAgentRequest",
    description:
      "The members to change. A member that is missing or null keeps its value. An empty text, list or object removes " +
      "the value. Any other value replaces the old one as a whole.",
    examples: [{ prompt: "Be brief.", worker_host: "" }],
  });
export type UpdateNamedAgentRequest = z.output<typeof UpdateNamedAgentRequest>;

export const NamedAgentItem = z
  .object({
    uid: z.uuid().describe("The uid of the agent's principal."),
    name: z.string().describe("The name of the agent."),
    available: z
      .boolean()
      .describe(
        "Whether it can execute runs: its principal is enabled, and this server has its agent and model.",
      ),
    created_at: Timestamp.describe("When the agent was created."),
    updated_at: Timestamp.describe("When the agent was last changed."),
    default_runner_uid: z.string().describe("Always empty."),
    memory: z
      .object({
        attached_stores: z.array(z.string()).describe("Always empty."),
        auto_memory: z.object({ enabled: z.boolean().describe("Always false.") }).describe("Not available."),
      })
      .describe("This server has no memory stores."),
    ...settings,
    secrets: SecretList.describe("The only secrets of the team that its runs get. Empty: all of them."),
    skills: z.array(z.string()).describe("The skills of its runs."),
    ignored: z
      .array(z.string())
      .optional()
      .describe("Members of this request that were accepted and have no effect. Absent if there are none."),
  })
  .meta({
    id: "NamedAgent",
    description: "A service account with defaults, which executes runs.",
    examples: [EXAMPLE],
  });
export type NamedAgentItem = z.output<typeof NamedAgentItem>;

export const ListNamedAgentsResponse = z
  .object({ agents: z.array(NamedAgentItem).describe("The oldest agent comes first."), page_info: PageInfo })
  .meta({
    id: "ListNamedAgentsResponse",
    description: "All named agents of the team.",
    examples: [{ agents: [EXAMPLE], page_info: { has_next_page: false } }],
  });

/** The members of a configuration by the names of an agent's members. */
const CONFIG_NAMES = {
  prompt: "base_prompt",
  base_model: "model_id",
  harness: "harness",
  environment_id: "environment_id",
  mcp_servers: "mcp_servers",
  skills: "skills",
  worker_host: "worker_host",
} as const;
const UNUSED_NAMES = ["harness_auth_secrets", "base_harness", "credential_strategy"] as const;

/** An empty value removes the member. */
export function namedAgentEditOf(request: UpdateNamedAgentRequest): NamedAgentEdit {
  const { description, name, on_behalf_of_enabled, secrets } = request;
  const config = Object.entries(CONFIG_NAMES).flatMap(([member, configName]) =>
    setMember(configName, request[member as keyof typeof CONFIG_NAMES]),
  );
  return defined({
    config: Object.fromEntries(config),
    others: Object.fromEntries(UNUSED_NAMES.flatMap((member) => setMember(member, request[member]))),
    name,
    description: description === undefined ? undefined : description === "" ? null : description,
    secretNames: secrets === undefined ? undefined : secretNamesIn(secrets),
    onBehalfOfEnabled: on_behalf_of_enabled,
  });
}

/** The path of a configuration's member, by the names of a request. */
export function namedAgentPath(path: string): string {
  const [first = "", ...others] = path.split(".");
  const name = Object.entries(CONFIG_NAMES).find(([, configName]) => configName === first)?.[0];
  return [name ?? first, ...others].join(".");
}

export function namedAgentItem({ agent, principal }: KnownAgent, isUsable: boolean): NamedAgentItem {
  const { createdAt, description, id, onBehalfOfEnabled, others, secretNames, updatedAt } = agent;
  const config = withRedactedValues(agent.config);
  const values = Object.entries(CONFIG_NAMES).flatMap(([member, configName]) =>
    setMember(member, config[configName]),
  );
  return {
    ...others,
    ...Object.fromEntries(values),
    uid: id,
    name: principal.displayName ?? "",
    available: isUsable && !principal.disabled,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    default_runner_uid: "",
    memory: { attached_stores: [], auto_memory: { enabled: false } },
    secrets: secretListOf(secretNames),
    skills: (config.skills as string[] | undefined) ?? [],
    on_behalf_of_enabled: onBehalfOfEnabled,
    ...defined({ description }),
  };
}

/** The entry of a member that has a value; null stands for an empty one. */
function setMember(name: string, value: unknown): [string, unknown][] {
  if (value === undefined || value === null) {
    return [];
  }
  return [[name, isEmpty(value) ? null : value]];
}

function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && Object.keys(Object(value)).length === 0);
}
