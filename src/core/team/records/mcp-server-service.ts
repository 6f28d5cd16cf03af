import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { McpServerConfig } from "../../model/runs/run.ts";
import {
  isSameServer,
  type McpServer,
  mapValues,
  openMcpServer,
  REDACTED,
  requireOwnMcpServer,
  sealMcpServer,
  secretValuesOf,
  textAt,
} from "../../model/secrets/mcp-server.ts";
import { type Storage, UniqueConflict } from "../../ports/stores/storage.ts";
import { requireWithinLimits } from "./record-limits.ts";

export interface McpServerServiceDeps {
  readonly storage: Pick<Storage, "mcpServers" | "teams">;
  readonly box: SecretBox;
  readonly clock: Clock;
}

export interface McpServerEdit {
  readonly name: string;
  readonly description?: string;
  readonly config: McpServerConfig;
}

/** Manages the MCP servers of a team. Their values are written and never shown. Writes run inside a transaction. */
export class McpServerService {
  readonly #deps: McpServerServiceDeps;

  constructor(deps: McpServerServiceDeps) {
    this.#deps = deps;
  }

  /** By name. */
  async list({ teamId }: Viewer): Promise<readonly McpServer[]> {
    const all = await this.#deps.storage.mcpServers.list(teamId);
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get({ teamId }: Viewer, id: string): Promise<McpServer> {
    const server = await this.#deps.storage.mcpServers.find(teamId, id);
    if (server === undefined) {
      throw unknownServer();
    }
    return server;
  }

  async create({ id: creatorId, teamId }: Viewer, { config, ...edit }: McpServerEdit): Promise<McpServer> {
    const { box, clock, storage } = this.#deps;
    requireOwnMcpServer(edit.name, config);
    const createdAt = clock.now();
    const place = { id: newId(createdAt), teamId };
    const sealed = sealMcpServer(box, place, withKeptValues(config, {}));
    const server = { ...place, ...edit, ...sealed, creatorId, createdAt, updatedAt: createdAt };
    await requireWithinLimits(storage, "mcpServers", server);
    await withFreeName(() => storage.mcpServers.add(server));
    return server;
  }

  async replace(viewer: Viewer, id: string, { config, ...edit }: McpServerEdit): Promise<McpServer> {
    const { box, clock, storage } = this.#deps;
    requireOwnMcpServer(edit.name, config);
    const { description: _description, ...before } = await this.get(viewer, id);
    const whole = withKeptValues(config, openMcpServer(box, before));
    const server = { ...before, ...edit, ...sealMcpServer(box, before, whole), updatedAt: clock.now() };
    await requireWithinLimits(storage, "mcpServers", server);
    // Another write may have changed the values that are kept.
    if (!(await withFreeName(() => storage.mcpServers.replace(server, before.updatedAt)))) {
      throw new AppError("conflict", "The MCP server was changed or deleted at the same time.", {
        retryable: false,
      });
    }
    return server;
  }

  async remove({ teamId }: Viewer, id: string): Promise<void> {
    if (!(await this.#deps.storage.mcpServers.remove(teamId, id))) {
      throw unknownServer();
    }
  }
}

/**
 * A value that was shown as `[redacted]` and comes back stays as it was, but only for the same server. Otherwise a
 * caller who may not read a value could have it sent to an address of their choice.
 */
function withKeptValues(config: McpServerConfig, before: McpServerConfig): McpServerConfig {
  const kept = isSameServer(config, before) ? secretValuesOf(before) : {};
  const values = mapValues(secretValuesOf(config), (value, path) => {
    if (value !== REDACTED) {
      return value;
    }
    const old = textAt(kept, path);
    if (old === undefined) {
      throw invalidMember(["config", ...path].join("."), `is ${REDACTED}, but there is no value to keep`);
    }
    return old;
  });
  return { ...config, ...values };
}

async function withFreeName<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof UniqueConflict
      ? invalidMember("name", "another MCP server of the team has this name")
      : error;
  }
}

function unknownServer(): AppError {
  return new AppError("resource_not_found", "There is no such MCP server.");
}
