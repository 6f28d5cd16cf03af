import { AppError } from "../errors.ts";
import type { AgentStart } from "../ports/agent-runner.ts";
import type { GatewayGrant } from "../ports/gateway.ts";
import type { Run, ToolServerConfig } from "../runs/run.ts";
import { PLACEHOLDER } from "../runs/tool-servers.ts";
import type { Variables } from "../secrets/run-secrets.ts";

export interface ToolServers {
  /** As the agent is told of them. */
  readonly forAgent: AgentStart["toolServers"];
  /** With keys, which stay outside. */
  readonly forGateway: GatewayGrant["toolServers"];
}

/** The run's tool servers, each `${NAME}` in their values replaced by the secret of that name. */
export function givenToolServers({ config }: Pick<Run, "config">, secrets: Variables): ToolServers {
  const forAgent: Record<string, AgentStart["toolServers"][string]> = {};
  const forGateway: Record<string, GatewayGrant["toolServers"][string]> = {};
  for (const [name, server] of Object.entries(config.mcp_servers ?? {})) {
    const fill = (value: string) => filled(name, value, secrets);
    const { args = [], command, env = {}, headers = {}, url } = server;
    if (command !== undefined) forAgent[name] = { command, args, env: mapped(env, fill) };
    if (command !== undefined || url === undefined) continue;
    forAgent[name] = "remote";
    forGateway[name] = { url: fill(url), headers: mapped(headers, (value) => headerOf(name, fill(value))) };
  }
  return { forAgent, forGateway };
}

function filled(server: string, value: string, secrets: Variables): string {
  return value.replace(PLACEHOLDER, (_whole, name: string) => {
    const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    if (secret !== undefined) return secret;
    throw new AppError("environment_setup_failed", `MCP server "${server}" needs the secret ${name}.`, {
      remedy: `Set a secret named ${name}, for the team or for whoever starts the run.`,
    });
  });
}

function headerOf(server: string, value: string): string {
  if (!/[\0\r\n]/.test(value)) return value;
  const message = `A header of MCP server "${server}" has a line break in it, from one of its secrets.`;
  throw new AppError("environment_setup_failed", message);
}

function mapped(
  values: NonNullable<ToolServerConfig["env"]>,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
