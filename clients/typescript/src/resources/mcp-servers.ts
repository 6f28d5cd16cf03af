import type { ApiClient } from "../api-client.ts";
import type { ListMcpServersResponse, McpServer, McpServerRequest } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** MCP servers that the team's runs can name by `warp_id`. */
export class McpServers {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates an MCP server. Its values are stored encrypted and never shown again. */
  create(body: McpServerRequest, options?: RequestOptions): ApiPromise<McpServer> {
    return this.#client.post("/agent/mcp-servers", { ...options, body });
  }

  /** Gets an MCP server, without its values. */
  retrieve(serverUid: string, options?: RequestOptions): ApiPromise<McpServer> {
    return this.#client.get(path`/agent/mcp-servers/${serverUid}`, options);
  }

  /** Lists the MCP servers of the team. */
  list(options?: RequestOptions): ListPromise<ListMcpServersResponse, McpServer> {
    return this.#client.list(
      "/agent/mcp-servers",
      (page: ListMcpServersResponse) => page.mcp_servers,
      options,
    );
  }

  /** Replaces an MCP server. Agents that are working keep the previous one until they end. */
  replace(serverUid: string, body: McpServerRequest, options?: RequestOptions): ApiPromise<McpServer> {
    return this.#client.put(path`/agent/mcp-servers/${serverUid}`, { ...options, body });
  }

  /** Deletes an MCP server. Runs that name it fail when their agent starts the next time. */
  delete(serverUid: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/mcp-servers/${serverUid}`, options);
  }
}
