import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { McpServerConfig } from "../runs/run.ts";

/** An MCP server that a team keeps. Its runs name it by `warp_id`. */
export interface McpServer extends TeamRecord {
  /** Unique in the team. */
  readonly name: string;
  readonly description?: string;
  /** The configuration with `[redacted]` in place of each value that may be a secret. */
  readonly config: McpServerConfig;
  /** These values, sealed. */
  readonly sealed: string;
  readonly creatorId: PrincipalId;
}

/** What a caller sees of a value, and what it sends back to keep the value. */
export const REDACTED = "[redacted]";

/** The beginning of a value that is stored sealed. */
export const SEALED = "sealed:";

export function isSealed(value: string): boolean {
  return value.startsWith(SEALED);
}

/** Members of a configuration in which each text may be a secret. */
type SecretValues = Readonly<Record<string, unknown>>;

/** The members that say which program or server is meant. A newer client may have secrets in any other member. */
const PUBLIC_MEMBERS: ReadonlySet<string> = new Set(["command", "args", "url", "warp_id"]);

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
    const values: SecretValues = JSON.parse(box.open(sealed, serverOwner(server)));
    return { ...config, ...values };
  } catch (cause) {
    throw new AppError("environment_setup_failed", `The MCP server ${name} cannot be opened.`, {
      cause,
      remedy: "Write its values anew: they were sealed with another secret key, or the row was changed.",
    });
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

export function secretValuesOf(server: McpServerConfig): SecretValues {
  return Object.fromEntries(
    Object.entries(server).filter(([member, value]) => !PUBLIC_MEMBERS.has(member) && value !== undefined),
  );
}

/** The members that reach a program or a server. */
export function usedMembersOf(server: McpServerConfig): McpServerConfig {
  return Object.fromEntries(
    Object.entries(server).filter(
      ([member]) => PUBLIC_MEMBERS.has(member) || member === "env" || member === "headers",
    ),
  );
}

/** What the value is below the members, for example `["headers", "authorization"]`. */
type Path = readonly string[];

/** Replaces each text, however deep it is. */
export function mapValues(
  values: SecretValues,
  change: (value: string, path: Path) => string,
  path: Path = [],
): SecretValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, mapValue(value, change, [...path, name])]),
  );
}

function mapValue(value: unknown, change: (value: string, path: Path) => string, path: Path): unknown {
  if (typeof value === "string") {
    return change(value, path);
  }
  if (Array.isArray(value)) {
    return value.map((one, index) => mapValue(one, change, [...path, String(index)]));
  }
  return isObject(value) ? mapValues(value, change, path) : value;
}

/** The text at a place, if there is one. */
export function textAt(values: unknown, [name, ...rest]: Path): string | undefined {
  if (name === undefined) {
    return typeof values === "string" ? values : undefined;
  }
  return isObject(values) && Object.hasOwn(values, name) ? textAt(values[name], rest) : undefined;
}

function isObject(value: unknown): value is SecretValues {
  return typeof value === "object" && value !== null;
}

/** What the sealed values of a server are bound to. In the row of another server they cannot be opened. */
export function serverOwner({ id, teamId }: Pick<McpServer, "id" | "teamId">): string {
  return `mcp-server:${teamId}:${id}`;
}
