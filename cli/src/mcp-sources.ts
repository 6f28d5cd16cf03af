import type { AmbientAgentConfig } from "@errand/client";
import { UsageError } from "./failure.ts";
import { readJson } from "./options.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type McpServers = NonNullable<AmbientAgentConfig["mcp_servers"]>;

export async function mcpServersOf(sources: readonly string[]): Promise<McpServers> {
  return Object.assign({}, ...(await Promise.all(sources.map(mcpServersIn))));
}

/** A file, its content, or the uid of a server of the team. */
async function mcpServersIn(source: string): Promise<McpServers> {
  if (UUID.test(source)) {
    return { [source]: { warp_id: source } };
  }
  const value = source.trimStart().startsWith("{") ? parseObject(source) : await readJson(source);
  // Other programs keep their servers in a member of this name.
  const { mcpServers = value } = value as { readonly mcpServers?: object };
  return mcpServers as McpServers;
}

function parseObject(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new UsageError("The MCP servers are not JSON.", "Write them in quotes, or name a file.");
  }
}
