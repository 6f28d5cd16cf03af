import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { McpServerConfig } from "../../model/runs/run.ts";
import { PLACEHOLDER } from "../../model/secrets/mcp-server.ts";
import type { AgentStart } from "../../ports/agent-runner.ts";
import type { GatewayGrant } from "../../ports/gateway.ts";
import type { OpenedSecrets } from "../secrets/run-secrets.ts";

export interface FilledMcpServers {
  /** The configuration that the agent receives. */
  readonly forAgent: AgentStart["mcpServers"];
  /** The configuration with keys, which stay outside of the sandbox. */
  readonly forGateway: GatewayGrant["mcpServers"];
}

/** The run's MCP servers, with each `${NAME}` in their values replaced by the secret of that name. */
export function fillMcpServers(
  servers: Readonly<Record<string, McpServerConfig>>,
  secrets: OpenedSecrets,
): FilledMcpServers {
  const forAgent: Record<string, AgentStart["mcpServers"][string]> = {};
  const forGateway: Record<string, GatewayGrant["mcpServers"][string]> = {};
  for (const [name, server] of Object.entries(servers)) {
    const { args = [], command, env = {}, headers = {}, url } = server;
    // A team's server must not send a member's personal secrets to an address that others chose.
    const usable = server.warp_id === undefined ? secrets : { ...secrets, variables: secrets.teamVariables };
    const fill = (value: string) => filled(name, value, usable);
    if (command !== undefined) {
      forAgent[name] = { command, args, env: mapped(env, fill) };
    }
    if (command !== undefined || url === undefined) {
      continue;
    }
    forAgent[name] = "remote";
    const urlSecrets = Array.from(url.matchAll(PLACEHOLDER), ([placeholder]) => fill(placeholder));
    forGateway[name] = defined({
      url: fill(url),
      headers: mapped(headers, (value) => headerOf(name, fill(value))),
      urlSecrets: urlSecrets.length === 0 ? undefined : urlSecrets,
    });
  }
  return { forAgent, forGateway };
}

function filled(
  server: string,
  value: string,
  { all, variables }: Pick<OpenedSecrets, "all" | "variables">,
): string {
  return value.replace(PLACEHOLDER, (_whole, name: string) => {
    const secret = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (secret !== undefined) {
      return secret;
    }
    throw new AppError("environment_setup_failed", `MCP server "${server}" needs the secret ${name}.`, {
      remedy: Object.hasOwn(all, name)
        ? "This secret is only for repositories. Store the value under another name for this server."
        : `Set a secret named ${name}, for the team or of your own. An MCP server of the team takes only those of the team.`,
    });
  });
}

function headerOf(server: string, value: string): string {
  if (!/[\0\r\n]/.test(value)) {
    return value;
  }
  const message = `A header of MCP server "${server}" has a line break in it, from one of its secrets.`;
  throw new AppError("environment_setup_failed", message);
}

function mapped(
  values: NonNullable<McpServerConfig["env"]>,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
