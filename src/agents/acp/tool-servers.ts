import type { InitializeResponse, McpServer } from "@agentclientprotocol/sdk/unstable";
import type { AgentStart } from "../../core/ports/agent-runner.ts";

export interface OfferedToolServers {
  readonly servers: McpServer[];
  /** Names of those that the agent cannot be given. */
  readonly leftOut: readonly string[];
}

/** Programs run beside the agent, in its sandbox; of a remote one it sees the gateway, and none of its keys. */
export function offeredToolServers(
  { gateway, toolServers }: Pick<AgentStart, "gateway" | "toolServers">,
  { agentCapabilities }: InitializeResponse,
  takesAny: boolean,
): OfferedToolServers {
  const names = Object.keys(toolServers);
  if (!takesAny) return { servers: [], leftOut: names };
  const takesRemote = agentCapabilities?.mcpCapabilities?.http === true;
  const offered = Object.entries(toolServers).filter(([, server]) => server !== "remote" || takesRemote);
  const servers = offered.map(([name, server]): McpServer => {
    if (server === "remote")
      return { type: "http", name, url: `${gateway.address}/tools/${name}`, headers: [] };
    const env = Object.entries(server.env).map(([variable, value]) => ({ name: variable, value }));
    return { name, command: server.command, args: [...server.args], env };
  });
  const given = new Set(offered.map(([name]) => name));
  return { servers, leftOut: names.filter((name) => !given.has(name)) };
}
