import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { ExecutedMcpServer } from "../../model/runs/executed-config.ts";
import type { McpServerConfig } from "../../model/runs/run.ts";
import { isSameServer } from "../../model/secrets/mcp-server.ts";

/**
 * The server that was approved, with the values of today. Values of a server that was changed since are not sent to the
 * approved one: they may belong to the other address or program.
 */
export function approvedServer(
  name: string,
  { args, command, env = [], headers = [], url }: ExecutedMcpServer,
  today: McpServerConfig,
): McpServerConfig {
  const approved: McpServerConfig = defined({
    command,
    args: args === undefined ? undefined : [...args],
    url,
  });
  const values = isSameServer(approved, today)
    ? { env: pick(today.env, env), headers: pick(today.headers, headers) }
    : { env: {}, headers: {} };
  const has = (names: readonly string[], found: object) => Object.keys(found).length === names.length;
  if (!has(env, values.env) || !has(headers, values.headers)) {
    throw new AppError(
      "environment_setup_failed",
      `The MCP server ${name} was changed after it was approved, and the approved one needs its former values.`,
      { remedy: "Start a new run, which is approved with the server as it is now." },
    );
  }
  return { ...approved, ...values };
}

function pick(values: McpServerConfig["env"] = {}, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}
