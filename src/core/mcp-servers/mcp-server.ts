import { AppError } from "../errors.ts";
import type { PrincipalId, TeamId } from "../ids.ts";
import type { McpServerConfig, RunConfig } from "../runs/run.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { RecordStore, TeamRecord } from "../team-records/record-store.ts";

/** An MCP server that a team keeps. Its runs name it by `warp_id`. */
export interface McpServer extends TeamRecord {
  /** Unique in the team. */
  readonly name: string;
  readonly description?: string;
  /** The configuration with `[redacted]` in place of each value of `env` and `headers`. */
  readonly config: McpServerConfig;
  /** These values, sealed. */
  readonly sealed: string;
  readonly creatorId: PrincipalId;
}

export type McpServerStore = Pick<RecordStore<McpServer>, "list">;

/** What a caller sees of a value, and what it sends back to keep the value. */
export const REDACTED = "[redacted]";

/** The beginning of a value of `env` or `headers` that is stored sealed. */
export const SEALED = "sealed:";

export function isSealed(value: string): boolean {
  return value.startsWith(SEALED);
}

type Values = Readonly<Record<string, string>>;

/** The members of a configuration whose values may be secrets. */
interface SecretValues {
  readonly env?: Values;
  readonly headers?: Values;
}

/** Replaces the values that may be secrets, and seals them. */
export function sealMcpServer(
  box: Pick<SecretBox, "seal">,
  place: Pick<McpServer, "teamId" | "id">,
  config: McpServerConfig,
): Pick<McpServer, "config" | "sealed"> {
  const values = secretValuesOf(config);
  return {
    config: { ...config, ...mapValues(values, () => REDACTED) },
    sealed: box.seal(JSON.stringify(values), serverOwner(place)),
  };
}

/** The configuration with its values. */
export function openMcpServer(box: Pick<SecretBox, "open">, server: McpServer): McpServerConfig {
  const { config, name, sealed } = server;
  try {
    return { ...config, ...(JSON.parse(box.open(sealed, serverOwner(server))) as SecretValues) };
  } catch (cause) {
    throw new AppError("environment_setup_failed", `The MCP server ${name} cannot be opened.`, {
      cause,
      remedy: "Write its values anew: they were sealed with another secret key, or the row was changed.",
    });
  }
}

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

/** The server with this uid, otherwise the one with this name. */
export function mcpServerNamed(servers: readonly McpServer[], uidOrName: string): McpServer | undefined {
  const uid = uidOrName.toLowerCase();
  return servers.find(({ id }) => id === uid) ?? servers.find(({ name }) => name === uidOrName);
}

/** Whether values of one would go to the same program or address as values of the other. */
export function isSameServer(left: McpServerConfig, right: McpServerConfig): boolean {
  const [one, other] = [left, right].map(({ args = [], command, url }) =>
    JSON.stringify([url, command, args]),
  );
  return one === other;
}

export function secretValuesOf({ env, headers }: McpServerConfig): SecretValues {
  return { ...(env === undefined ? {} : { env }), ...(headers === undefined ? {} : { headers }) };
}

export function mapValues(
  values: SecretValues,
  change: (value: string, member: keyof SecretValues, name: string) => string,
): SecretValues {
  return Object.fromEntries(
    Object.entries(values).map(([member, entries]: [string, Values]) => [
      member,
      Object.fromEntries(
        Object.entries(entries).map(([name, value]) => [
          name,
          change(value, member as keyof SecretValues, name),
        ]),
      ),
    ]),
  );
}

/** What the sealed values are bound to. In the row of another server they cannot be opened. */
/** What the sealed values of a server are bound to. */
export function serverOwner({ id, teamId }: Pick<McpServer, "id" | "teamId">): string {
  return `mcp-server:${teamId}:${id}`;
}
