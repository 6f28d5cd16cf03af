import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { McpServer } from "../core/model/secrets/mcp-server.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { McpServer as McpServerRow } from "./generated/client.ts";
import { MCP_SERVER } from "./json-columns.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { parseJsonColumn, toJson, withoutNulls } from "./rows.ts";

export function createMcpServerStore(database: Statements): RecordStore<McpServer> {
  return new PrismaRecordStore<McpServer, McpServerRow, ReturnType<typeof columnsOf>>(database, {
    table: (client) => client.mcpServer,
    columnsOf,
    recordOf: mcpServerOf,
  });
}

function columnsOf({ config, description, ...columns }: McpServer) {
  return { ...columns, config: toJson(config), description: description ?? null };
}

function mcpServerOf(row: McpServerRow): McpServer {
  return withoutNulls<McpServer>({
    ...row,
    teamId: row.teamId as TeamId,
    creatorId: row.creatorId as PrincipalId,
    config: parseJsonColumn(MCP_SERVER, row.config, { table: "mcp_servers", id: row.id, column: "config" }),
  });
}
