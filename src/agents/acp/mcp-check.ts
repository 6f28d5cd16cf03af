import type { InitializeResponse, McpServer } from "@agentclientprotocol/sdk/unstable";
import { withTimeout } from "../../core/basics/clock.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { AgentStart, LocalMcpServer } from "../../core/ports/agent-runner.ts";
import type { Sandbox, SandboxCommand } from "../../sandboxes/sandbox.ts";
import { initializeLocal } from "./local-mcp-server.ts";
import { initializeRemote } from "./remote-mcp-server.ts";

export interface McpCheck {
  readonly sandbox: Pick<Sandbox, "spawn">;
  /** The command of the agent. A local server gets the same sandbox and environment. */
  readonly agentCommand: SandboxCommand;
  readonly start: Pick<AgentStart, "gateway" | "mcpServers" | "signal">;
  readonly timeoutMs: number;
}

/** Each local server is a sandbox of its own while it is checked. */
const CONCURRENT_CHECKS = 4;
const REMEDY =
  "Check the command or the address of this server, its secrets, and whether the environment has its program and the network that it needs.";

/**
 * Initializes each MCP server once, because most agents say nothing about a server that does not start. Fails with
 * `environment_setup_failed`, with the name of the server and the reason. Nothing that was started for it remains.
 */
export async function requireMcpServers(check: McpCheck): Promise<void> {
  const { mcpServers, signal } = check.start;
  const waiting = Object.entries(mcpServers);
  const over = new AbortController();
  const ending = AbortSignal.any([over.signal, signal]);
  const checkRest = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await requireServer(check, next, ending);
    }
  };
  const checks = Array.from({ length: CONCURRENT_CHECKS }, checkRest);
  try {
    await Promise.all(checks);
  } finally {
    over.abort();
    await Promise.allSettled(checks);
  }
}

async function requireServer(
  check: McpCheck,
  [name, server]: readonly [string, LocalMcpServer | "remote"],
  ending: AbortSignal,
): Promise<void> {
  ending.throwIfAborted();
  const { timeoutMs } = check;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, ending]);
  const initialized = initialize(check, name, server, signal).then((problem) => ({ problem }));
  const answered = await withTimeout(initialized, timeoutMs);
  over.abort();
  await initialized;
  ending.throwIfAborted();
  const { problem } = answered ?? { problem: `it did not answer within ${timeoutMs / 1_000} s.` };
  if (problem !== undefined) {
    throw notStarted(name, problem);
  }
}

/** Why the server cannot be used, as the end of a sentence. Undefined when it can. Never rejects. */
function initialize(
  { agentCommand, sandbox, start: { gateway } }: McpCheck,
  name: string,
  server: LocalMcpServer | "remote",
  signal: AbortSignal,
): Promise<string | undefined> {
  if (server === "remote") {
    return initializeRemote(gateway, name, signal);
  }
  const command: SandboxCommand = {
    ...agentCommand,
    argv: [server.command, ...server.args],
    env: { ...agentCommand.env, ...server.env },
    isBuiltIn: false,
  };
  return initializeLocal(() => sandbox.spawn(command), signal);
}

function notStarted(name: string, problem: string): AppError {
  const message = `The MCP server "${name}" could not be started: ${problem}`;
  return new AppError("environment_setup_failed", message, { remedy: REMEDY });
}

export interface SupportedMcpServers {
  readonly servers: McpServer[];
  /** The names of the servers that the agent cannot use. */
  readonly leftOut: readonly string[];
}

/**
 * Local servers run beside the agent in its sandbox. For a remote server, the agent sees only the gateway and no
 * keys.
 */
export function supportedMcpServers(
  { gateway, mcpServers }: Pick<AgentStart, "gateway" | "mcpServers">,
  { agentCapabilities }: InitializeResponse,
  takesAny: boolean,
): SupportedMcpServers {
  const names = Object.keys(mcpServers);
  if (!takesAny) {
    return { servers: [], leftOut: names };
  }
  const takesRemote = agentCapabilities?.mcpCapabilities?.http === true;
  const offered = Object.entries(mcpServers).filter(([, server]) => server !== "remote" || takesRemote);
  const servers = offered.map(([name, server]): McpServer => {
    if (server === "remote") {
      return { type: "http", name, url: `${gateway.address}/tools/${name}`, headers: [] };
    }
    const env = Object.entries(server.env).map(([variable, value]) => ({ name: variable, value }));
    return { name, command: server.command, args: [...server.args], env };
  });
  const given = new Set(offered.map(([name]) => name));
  return { servers, leftOut: names.filter((name) => !given.has(name)) };
}
