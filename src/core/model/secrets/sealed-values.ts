import type { SecretBox } from "../../basics/crypto.ts";
import { invalidMember } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { McpServerConfig, RunConfig } from "../runs/run.ts";
import {
  isSameServer,
  isSealed,
  mapValues,
  PLACEHOLDER,
  REDACTED,
  SEALED,
  secretValuesOf,
  textAt,
  usedMembersOf,
} from "./mcp-server.ts";

export interface KeptValues {
  /** The configuration that the caller was shown. */
  readonly before?: RunConfig;
  /** The caller's name for the servers. Default: config.mcp_servers. */
  readonly member?: string;
}

type Servers = Readonly<Record<string, McpServerConfig>>;

/**
 * The configuration as it is stored. Values of `env`, `headers` and unknown members may be credentials, so they are
 * sealed, except those that name secrets as `${NAME}`. A value that was shown as `[redacted]` and comes back stays as it was in `before`, but
 * only for the same server: otherwise a caller could have it sent to an address of their choice.
 */
export function withSealedValues<Config extends RunConfig>(
  box: Pick<SecretBox, "seal">,
  teamId: TeamId,
  config: Config,
  { before = {}, member = "config.mcp_servers" }: KeptValues = {},
): Config {
  const { mcp_servers: known = {} } = before;
  return withValues(config, (value, { server, serverName, path }) => {
    if (value === REDACTED) {
      const former = Object.hasOwn(known, serverName) ? known[serverName] : undefined;
      const values = former !== undefined && isSameServer(server, former) ? secretValuesOf(former) : {};
      const kept = textAt(values, path);
      if (kept === undefined) {
        throw invalidMember(
          [member, serverName, ...path].join("."),
          `is ${REDACTED}, but there is no value to keep`,
        );
      }
      return kept;
    }
    // A caller's text may begin like a sealed value.
    const staysAsItIs = !isSealed(value) && (value.search(PLACEHOLDER) >= 0 || value === "");
    return staysAsItIs ? value : SEALED + box.seal(value, valuesOwner(teamId));
  });
}

/** The configuration for callers: sealed values are shown as `[redacted]`. */
export function withRedactedValues<Config extends RunConfig>(config: Config): Config {
  return withValues(config, (value) => (isSealed(value) ? REDACTED : value));
}

/**
 * The servers with their values, without unknown members, and the values that were sealed. Throws when one cannot be
 * opened.
 */
export function openValues(
  box: Pick<SecretBox, "open">,
  teamId: TeamId,
  servers: Servers,
): { readonly servers: Servers; readonly opened: readonly string[] } {
  const opened: string[] = [];
  const used = Object.entries(servers).map(([name, server]) => [name, usedMembersOf(server)] as const);
  const { mcp_servers: open = {} } = withValues({ mcp_servers: Object.fromEntries(used) }, (value) => {
    if (!isSealed(value)) {
      return value;
    }
    const text = box.open(value.slice(SEALED.length), valuesOwner(teamId));
    opened.push(text);
    return text;
  });
  return { servers: open, opened };
}

interface Place {
  readonly server: McpServerConfig;
  readonly serverName: string;
  /** Below the server, for example `["headers", "authorization"]`. */
  readonly path: readonly string[];
}

function withValues<Config extends RunConfig>(
  config: Config,
  change: (value: string, place: Place) => string,
): Config {
  if (config.mcp_servers === undefined) {
    return config;
  }
  const servers = Object.entries(config.mcp_servers).map(([serverName, server]) => {
    const values = mapValues(secretValuesOf(server), (value, path) =>
      change(value, { server, serverName, path }),
    );
    return [serverName, { ...server, ...values }] as const;
  });
  return { ...config, mcp_servers: Object.fromEntries(servers) };
}

/** What sealed values are bound to. Runs, schedules and agents of a team copy them from each other. */
export function valuesOwner(teamId: TeamId): string {
  return `mcp-values:${teamId}`;
}
