import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { McpServer } from "../../core/model/secrets/mcp-server.ts";
import { McpServerService } from "../../core/team/records/mcp-server-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { limitsOf } from "../http/api-limits.ts";
import { except } from "../http/entity-tags.ts";
import { requireBytes } from "../http/request-validation.ts";
import {
  ListMcpServersResponse,
  McpServerItem,
  McpServerRequest,
  mcpServerEditOf,
  mcpServerItem,
} from "../schemas/mcp-server.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const CREATE = {
  operationId: "createMcpServer",
  summary: "Create an MCP server",
  description:
    "Runs of the team use it by `warp_id`. Everyone who may start runs can make their agents use it with its values.",
  hidesBody: true,
  body: McpServerRequest,
};
const REPLACE = {
  operationId: "replaceMcpServer",
  summary: "Replace an MCP server",
  description: "Agents that are working keep the previous configuration until they end.",
  hidesBody: true,
  problems: [409],
  body: McpServerRequest,
} as const;
const DELETE = {
  operationId: "deleteMcpServer",
  summary: "Delete an MCP server",
  description: "Runs that name it fail when their agent starts the next time.",
  status: 204,
} as const;

export function mcpServerRoutes(
  deps: Pick<ApiDeps, "clock" | "limits" | "secrets" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const { clock, secrets: box, storage } = deps;
  const { configBytes } = limitsOf(deps.limits);
  const requireSize = ({ config }: McpServerRequest) =>
    requireBytes("config", JSON.stringify(config), configBytes);
  return resourceRoutes(storage, idempotency, {
    path: "/agent/mcp-servers",
    tags: ["mcp-servers"],
    scopes: { read: "settings:read", write: "settings:write" },
    id: uuidId("uid", "MCP server"),
    serviceOn: (stores) => new McpServerService({ storage: stores, box, clock }),
    item: McpServerItem,
    items: (rows: readonly McpServer[]) => rows.map(mcpServerItem),
    edited: except("created_by"),
    list: {
      operationId: "listMcpServers",
      summary: "List the team's MCP servers",
      member: "mcp_servers",
      response: ListMcpServersResponse,
      run: (servers, viewer) => servers.list(viewer),
    },
    get: {
      operationId: "getMcpServer",
      summary: "Get an MCP server",
      run: (servers, viewer, uid) => servers.get(viewer, uid),
    },
    create: {
      ...CREATE,
      check: requireSize,
      run: (servers, viewer, body) => servers.create(viewer, mcpServerEditOf(body)),
    },
    replace: {
      ...REPLACE,
      check: requireSize,
      run: (servers, viewer, uid, body) => servers.replace(viewer, uid, mcpServerEditOf(body)),
    },
    remove: {
      ...DELETE,
      run: (servers, viewer, uid) => servers.remove(viewer, uid),
    },
  });
}
