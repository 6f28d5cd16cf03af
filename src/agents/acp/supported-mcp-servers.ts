import type { InitializeResponse, McpServer } from "@agentclientprotocol/sdk/unstable";
import type { AgentStart } from "../../core/ports/agent-runner.ts";

export interface SupportedMcpServers {
  readonly servers: McpServer[];
  /** The names of the servers that the agent cannot use. */
  readonly leftOut: readonly string[];
}

/**
 * Local servers run beside the agent in its sandbox. For a remote server, the agent sees only the gateway and no
 * keys.
 */
export function supportedMcpServers(
  { gateway, mcpServers }: Pick<AgentStart, "gateway" | "mcpServers">,
  { agentCapabilities }: InitializeResponse,
  takesAny: boolean,
): SupportedMcpServers {
  const names = Object.keys(mcpServers);
  if (!takesAny) {
    return { servers: [], leftOut: names };
  }
  const takesRemote = agentCapabilities?.mcpCapabilities?.http === true;
  const offered = Object.entries(mcpServers).filter(([, server]) => server !== "remote" || takesRemote);
  const servers = offered.map(([name, server]): McpServer => {
    if (server === "remote") {
      return { type: "http", name, url: `${gateway.address}/tools/${name}`, headers: [] };
    }
    const env = Object.entries(server.env).map(([variable, value]) => ({ name: variable, value }));
    return { name, command: server.command, args: [...server.args], env };
  });
  const given = new Set(offered.map(([name]) => name));
  return { servers, leftOut: names.filter((name) => !given.has(name)) };
}
