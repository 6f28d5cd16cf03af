import { AppError } from "../../basics/errors.ts";
import type { McpServerConfig, RunConfig } from "../runs/run.ts";
import { isSealed } from "./mcp-server.ts";

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
