import {
  type AgentDefinition,
  type LaunchRequest,
  modelAddress,
  PLACEHOLDER_KEY,
} from "../agent-definition.ts";

/** A program of the operator that speaks ACP. */
export interface CustomCommand {
  readonly argv: readonly [string, ...string[]];
  /** What it must be able to read on this machine, besides the files of the system. */
  readonly readable: readonly string[];
}

export function customAgent({ argv, readable }: CustomCommand): AgentDefinition {
  return {
    name: "custom",
    displayName: "Custom agent",
    description: "The program that ERRAND_AGENT_COMMAND names.",
    license: "unknown",
    // The program chooses its models itself.
    providers: [],
    models: [{ id: "custom", displayName: "Its own choice", provider: "unknown", seesImages: false }],
    countsUsage: "by turn",
    acceptsMcpServers: true,
    isDemo: false,
    launch: (request) => ({ argv, env: modelVariables(request), readable }),
  };
}

/** The usual variables of the providers that this server has. */
function modelVariables({ address, servers }: LaunchRequest): Readonly<Record<string, string>> {
  const of = (provider: "openai" | "anthropic" | "gemini", key: string, url: string) =>
    servers[provider] === undefined ? {} : { [key]: PLACEHOLDER_KEY, [url]: modelAddress(address, provider) };
  return {
    ...of("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ...of("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ...of("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
  };
}
