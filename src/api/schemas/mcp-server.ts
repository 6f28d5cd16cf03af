import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { McpServerConfig as Config } from "../../core/model/runs/run.ts";
import { type McpServer, REDACTED } from "../../core/model/secrets/mcp-server.ts";
import type { McpServerEdit } from "../../core/team/records/mcp-server-service.ts";
import { PageInfo } from "./page-info.ts";
import { McpServerConfig } from "./run-config.ts";
import { Timestamp, textOfBytes, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 100;
const DESCRIPTION_BYTES = 1_000;

const REQUEST_EXAMPLE = {
  name: "Wiki",
  description: "Searches the team's wiki",
  config: { url: "https://wiki.example.com/mcp", headers: { authorization: "Bearer wk_live_2f9c" } },
};
const EXAMPLE = {
  uid: "0195b2a5-3333-7000-8000-000000000001",
  ...REQUEST_EXAMPLE,
  config: { ...REQUEST_EXAMPLE.config, headers: { authorization: REDACTED } },
  created_at: "2026-02-03T14:10:00.000Z",
  updated_at: "2026-02-20T07:45:00.000Z",
  created_by: "0195b2a0-0000-7000-8000-000000000001",
};

export const McpServerItem = z
  .object({
    uid: z.uuid().describe("The server's id. Runs name it, or the server's name, by `warp_id`."),
    name: z.string().describe("Unique in the team."),
    description: z.string().optional().describe("What the server is for."),
    config: McpServerConfig.describe(`The values of \`env\` and \`headers\` are shown as \`${REDACTED}\`.`),
    created_at: Timestamp.describe("When the server was created."),
    updated_at: Timestamp.describe("When the server was last changed."),
    created_by: z.uuid().describe("The uid of the principal that created the server."),
  })
  .meta({ id: "McpServer", description: "An MCP server of the team.", examples: [EXAMPLE] });
export type McpServerItem = z.output<typeof McpServerItem>;

export const ListMcpServersResponse = z
  .object({ mcp_servers: z.array(McpServerItem).describe("In alphabetical order."), page_info: PageInfo })
  .meta({
    id: "ListMcpServersResponse",
    description: "The MCP servers of the team.",
    examples: [{ mcp_servers: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const McpServerRequest = z
  .object({
    name: textOfCharacters(NAME_LENGTH).min(1).describe("Unique in the team."),
    description: textOfBytes(DESCRIPTION_BYTES).optional().describe("What the server is for."),
    config: McpServerConfig.describe(
      "Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never shown. A value that is " +
        `sent back as \`${REDACTED}\` stays as it is.`,
    ),
  })
  .meta({
    id: "McpServerRequest",
    description: "The whole content of the server. Members that are left out become empty.",
    examples: [REQUEST_EXAMPLE],
  });

export type McpServerRequest = z.output<typeof McpServerRequest>;

export function mcpServerEditOf({ config, description, name }: McpServerRequest): McpServerEdit {
  return defined({ name, config: config as Config, description });
}

export function mcpServerItem(server: McpServer): McpServerItem {
  const { config, createdAt, creatorId, description, id, name, updatedAt } = server;
  return defined({
    uid: id,
    name,
    description,
    config: config as McpServerItem["config"],
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    created_by: creatorId,
  });
}
