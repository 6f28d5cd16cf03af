import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { McpServerConfig, RunConfig } from "../runs/run.ts";

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

const SERVERS_MAX = 20;
const ENTRIES_MAX = 100;
const TEXT_LENGTH_MAX = 4_096;
/** The name is part of an address, and of the names that an agent gives to the server's tools. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const CONTROL = /[\0\r\n]/;

/** The name of a secret in a configured value. */
export const PLACEHOLDER = /\$\{([^{}]*)\}/g;

/** Rejects MCP servers that no run could use. */
export function requireMcpServers({ mcp_servers: servers = {} }: RunConfig, member: string): void {
  const path = `${member}.mcp_servers`;
  const names = Object.keys(servers);
  if (names.length > SERVERS_MAX) {
    throw refused(path, "", `are more than ${SERVERS_MAX}`);
  }
  for (const [name, server] of Object.entries(servers)) {
    const problem = problemOf(name, server);
    if (problem !== undefined) {
      throw refused(path, name, problem);
    }
  }
}

/** Rejects an MCP server that a team could not use. It must not refer to another one. */
export function requireOwnMcpServer(name: string, config: McpServerConfig): void {
  const problem =
    config.warp_id === undefined ? problemOfKind(config) : "must have its own command or url, and no warp_id";
  if (problem !== undefined) {
    throw new AppError("invalid_request", `MCP server "${name}" ${problem}.`, {
      issues: [{ path: "config", message: problem }],
    });
  }
}

function problemOf(name: string, server: McpServerConfig): string | undefined {
  if (!SERVER_NAME.test(name)) {
    return "has a name of other than 1 to 64 letters, digits, _ and -";
  }
  return problemOfKind(server);
}

function problemOfKind(server: McpServerConfig): string | undefined {
  const { command, url, warp_id } = server;
  if ([command, url, warp_id].filter((kind) => kind !== undefined).length !== 1) {
    return "must have exactly one of command, url and warp_id";
  }
  if (warp_id !== undefined) {
    return undefined;
  }
  return command === undefined ? problemOfRemote(server) : problemOfProgram(command, server);
}

function problemOfProgram(command: string, { args = [], env = {} }: McpServerConfig): string | undefined {
  const words = [command, ...args];
  if (command.trim() === "") {
    return "has an empty command";
  }
  if (words.some((word) => word.search(PLACEHOLDER) >= 0)) {
    return "names a secret in its command or args, where other programs can read it: name it in env";
  }
  if (args.length > ENTRIES_MAX) {
    return `has more than ${ENTRIES_MAX} args`;
  }
  if (words.some((word) => word.length > TEXT_LENGTH_MAX || word.includes("\0"))) {
    return `has an arg of more than ${TEXT_LENGTH_MAX} characters, or with a NUL in it`;
  }
  return problemOfEntries("env", env, VARIABLE_NAME);
}

function problemOfRemote({ headers = {}, url = "" }: McpServerConfig): string | undefined {
  const sample = url.replace(PLACEHOLDER, "secret");
  if (url.length > TEXT_LENGTH_MAX || !URL.canParse(sample)) {
    return "has no usable url";
  }
  const { password, protocol, username } = new URL(sample);
  if (protocol !== "https:" && protocol !== "http:") {
    return "has a url of other than http and https";
  }
  if (username !== "" || password !== "") {
    return "has a name or key in its url: use headers";
  }
  return problemOfEntries("headers", headers, HEADER_NAME);
}

function problemOfEntries(
  what: "env" | "headers",
  entries: Readonly<Record<string, string>>,
  pattern: RegExp,
): string | undefined {
  const all = Object.entries(entries);
  if (all.length > ENTRIES_MAX) {
    return `has more than ${ENTRIES_MAX} ${what}`;
  }
  for (const [name, value] of all) {
    if (!pattern.test(name) || name.length > 256) {
      return `has ${what} with a name that is none`;
    }
    if (value.length > TEXT_LENGTH_MAX && !isSealed(value)) {
      return `has ${what} of more than ${TEXT_LENGTH_MAX} characters`;
    }
    if (what === "headers" ? CONTROL.test(value) : value.includes("\0")) {
      return `has ${what} with a character that cannot be passed on`;
    }
  }
  return undefined;
}

function refused(all: string, name: string, problem: string): AppError {
  const server = name === "" ? "The MCP servers" : `MCP server "${name}"`;
  const path = [all, name].filter((part) => part !== "").join(".");
  return new AppError("invalid_request", `${server} ${problem}.`, { issues: [{ path, message: problem }] });
}
