import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import { mcpServerNamed } from "../../model/secrets/mcp-server.ts";
import type { McpServerStore } from "../../ports/stores/record-store.ts";

/** Throws `resource_not_found` if the configuration names a server that the team does not have. */
export async function requireTeamMcpServers(
  store: McpServerStore,
  teamId: TeamId,
  { mcp_servers: servers = {} }: RunConfig,
  member = "config",
): Promise<void> {
  const named = Object.entries(servers).filter(([, { warp_id }]) => warp_id !== undefined);
  const known = named.length === 0 ? [] : await store.list(teamId);
  for (const [name, { warp_id: warpId = "" }] of named) {
    if (mcpServerNamed(known, warpId) === undefined) {
      const path = `${member}.mcp_servers.${name}.warp_id`;
      throw new AppError(
        "resource_not_found",
        `MCP server "${name}" names "${warpId}", which does not exist.`,
        {
          issues: [{ path, message: "must be the uid or the name of an MCP server of the team" }],
          remedy: "GET /api/v1/agent/mcp-servers lists the MCP servers of the team.",
        },
      );
    }
  }
}
