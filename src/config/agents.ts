import { join } from "node:path";
import { z } from "zod";
import { AGENT_SETTINGS, type AgentSetting, parseCommand } from "../agents/agent-settings.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { flag } from "./variable-types.ts";

export interface AgentConfig {
  /** The agent of runs that name no agent. */
  readonly setting: AgentSetting;
  /** The model of runs that name none, for agents that support it. */
  readonly model: string | undefined;
  /** The command of the agent `custom`. Undefined: this agent does not exist. */
  readonly custom:
    | { readonly argv: readonly [string, ...string[]]; readonly readable: readonly string[] }
    | undefined;
  /** Whether each worker has a warm agent for its next run. */
  readonly isWarm: boolean;
  /** The environment in which npm installs agents: the settings of its registry and proxies, and no key of Errand. */
  readonly npmVariables: Readonly<Record<string, string>>;
}

const command = z
  .string()
  .transform((text, context) => {
    const words = parseCommand(text);
    if (words !== undefined) {
      return words;
    }
    context.addIssue({
      code: "custom",
      message: 'must be a command line such as my-agent --acp, or a JSON array such as ["my-agent", "--acp"]',
    });
    return z.NEVER;
  })
  .optional();
const paths = z
  .string()
  .default("")
  .transform((text) => text.split(":").filter((path) => path !== ""))
  .refine(
    (all) => all.every((path) => path.startsWith("/")),
    "must contain only absolute paths such as /opt/agent, separated by colons",
  );

export const agentVariables = {
  ERRAND_AGENT: z.enum(AGENT_SETTINGS).default("auto"),
  ERRAND_MODEL: z.string().max(200, "must have at most 200 characters").optional(),
  ERRAND_AGENT_COMMAND: command,
  ERRAND_AGENT_READABLE: paths,
  ERRAND_WARM_AGENTS: flag.default(false),
};
export const agentVariableDocs = {
  ERRAND_AGENT: {
    group: "Agents",
    default: "auto",
    description: "The agent of runs that name none. `auto` selects an agent by the model keys.",
  },
  ERRAND_MODEL: {
    group: "Agents",
    default: "(the agent's own default)",
    description:
      "The model of runs that name none. With `OPENAI_BASE_URL` and without this variable, the only model of that server is used.",
  },
  ERRAND_AGENT_COMMAND: {
    group: "Agents",
    default: "(none)",
    description: "The command of the agent `custom`, a program that speaks the Agent Client Protocol.",
  },
  ERRAND_AGENT_READABLE: {
    group: "Agents",
    default: "(none)",
    description: "Absolute paths that the agent `custom` must be able to read, separated by colons.",
  },
  ERRAND_WARM_AGENTS: {
    group: "Agents",
    default: "0",
    description:
      "With `1`, each worker keeps one process of the default agent started and initialized for its next run. Only with bubblewrap, and while memory is not short.",
  },
} satisfies Record<keyof typeof agentVariables, VariableDoc>;

type AgentVariables = z.infer<z.ZodObject<typeof agentVariables>>;
type Env = Readonly<Record<string, string | undefined>>;

export function agentConfigOf(values: AgentVariables, env: Env): AgentConfig {
  const { ERRAND_AGENT_COMMAND: argv, ERRAND_AGENT_READABLE: readable } = values;
  return {
    setting: values.ERRAND_AGENT,
    model: values.ERRAND_MODEL,
    custom: argv === undefined ? undefined : { argv, readable },
    isWarm: values.ERRAND_WARM_AGENTS,
    npmVariables: npmVariablesIn(env),
  };
}

export function agentProblems({ ERRAND_AGENT, ERRAND_AGENT_COMMAND }: AgentVariables): string[] {
  return ERRAND_AGENT === "custom" && ERRAND_AGENT_COMMAND === undefined
    ? ["ERRAND_AGENT=custom needs ERRAND_AGENT_COMMAND, the command of an agent that speaks ACP."]
    : [];
}

const NPM_NAMES = /^(path|npm_config_.*|(https?|all|no)_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i;

/**
 * npm gets a home directory of its own while it installs, so the path of the operator's settings is passed explicitly.
 */
export function npmVariablesIn(env: Env): Readonly<Record<string, string>> {
  const settings: readonly (readonly [string, string])[] =
    env.HOME === undefined ? [] : [["npm_config_userconfig", join(env.HOME, ".npmrc")]];
  const named = Object.entries(env).filter(
    (entry): entry is [string, string] => NPM_NAMES.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries([...settings, ...named]);
}
