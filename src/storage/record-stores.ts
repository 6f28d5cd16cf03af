import type { NamedAgent } from "../core/model/defaults/named-agent.ts";
import type { RequestDefaults, RoutingRule } from "../core/model/defaults/request-defaults.ts";
import type { Policy } from "../core/model/policies/policy.ts";
import type { Schedule } from "../core/model/schedules/schedule.ts";
import type { McpServer } from "../core/model/secrets/mcp-server.ts";
import type { Environment } from "../core/model/workspaces/environment.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import type * as Rows from "./generated/client.ts";
import {
  ENVIRONMENT_CONFIG,
  MCP_SERVER,
  METADATA,
  OTHER_MEMBERS,
  POLICY_MATCH,
  ROUTING_MATCH,
  RUN_CONFIG,
} from "./json-columns.ts";
import { recordStore } from "./record-store.ts";
import { parseJsonColumn, toJson, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

/** The records of a team that have no queries of their own. Caches of policies and routing rules learn of changes. */
export function createRecordStores({ database, pubsub }: StoreDeps) {
  return {
    environments: recordStore(database, {
      table: (client) => client.environment,
      columnsOf: ({ config, ...columns }: Environment) => ({ ...columns, config: toJson(config) }),
      recordOf: environmentOf,
    }),
    secrets: recordStore(database, {
      table: (client) => client.secret,
      columnsOf: (secret: Rows.Secret) => secret,
      recordOf: (row: Rows.Secret) => row,
    }),
    mcpServers: recordStore(database, {
      table: (client) => client.mcpServer,
      columnsOf: mcpServerColumns,
      recordOf: mcpServerOf,
    }),
    namedAgents: recordStore(database, {
      table: (client) => client.namedAgent,
      columnsOf: namedAgentColumns,
      recordOf: namedAgentOf,
    }),
    requestDefaults: recordStore(database, {
      table: (client) => client.requestDefaults,
      columnsOf: ({ config, ...columns }: RequestDefaults) => ({ ...columns, config: toJson(config) }),
      recordOf: requestDefaultsOf,
    }),
    schedules: recordStore(database, {
      table: (client) => client.schedule,
      columnsOf: scheduleColumns,
      recordOf: scheduleOf,
    }),
    policies: recordStore(
      database,
      { table: (client) => client.policy, columnsOf: policyColumns, recordOf: policyOf },
      () => pubsub.publish([CHANNELS.policies]),
    ),
    routingRules: recordStore(
      database,
      { table: (client) => client.routingRule, columnsOf: routingRuleColumns, recordOf: routingRuleOf },
      () => pubsub.publish([CHANNELS.routingRules]),
    ),
  } satisfies Partial<Storage>;
}

function environmentOf({ config, ...row }: Rows.Environment): Environment {
  const location = { table: "environments", id: row.id, column: "config" } as const;
  return { ...row, config: parseJsonColumn(ENVIRONMENT_CONFIG, config, location) };
}

function mcpServerColumns({ config, description, ...columns }: McpServer) {
  return { ...columns, config: toJson(config), description: description ?? null };
}

function mcpServerOf({ config, ...row }: Rows.McpServer): McpServer {
  const location = { table: "mcp_servers", id: row.id, column: "config" } as const;
  return withoutNulls<McpServer>({ ...row, config: parseJsonColumn(MCP_SERVER, config, location) });
}

function namedAgentColumns({ config, description, others, secretNames, ...columns }: NamedAgent) {
  const json = { config: toJson(config), others: toJson(others) };
  return { ...columns, ...json, description: description ?? null, secretNames: [...secretNames] };
}

function namedAgentOf({ config, others, ...row }: Rows.NamedAgent): NamedAgent {
  const location = { table: "named_agents", id: row.id } as const;
  return withoutNulls<NamedAgent>({
    ...row,
    config: parseJsonColumn(RUN_CONFIG, config, { ...location, column: "config" }),
    others: parseJsonColumn(OTHER_MEMBERS, others, { ...location, column: "others" }),
  });
}

function requestDefaultsOf({ config, ...row }: Rows.RequestDefaults): RequestDefaults {
  const location = { table: "request_defaults", id: row.id, column: "config" } as const;
  return { ...row, config: parseJsonColumn(RUN_CONFIG, config, location) };
}

function scheduleColumns(schedule: Schedule) {
  const { agentUid, config, metadata, mode, nextRunAt, lastRanAt, lastSpawnError, ...columns } = schedule;
  return {
    ...columns,
    mode: mode ?? null,
    agentUid: agentUid ?? null,
    config: toJson(config),
    metadata: toJson(metadata),
    nextRunAt: nextRunAt ?? null,
    lastRanAt: lastRanAt ?? null,
    lastSpawnError: lastSpawnError ?? null,
  };
}

export function scheduleOf({ config, metadata, ...row }: Rows.Schedule): Schedule {
  const location = { table: "schedules", id: row.id } as const;
  return withoutNulls<Schedule>({
    ...row,
    config: parseJsonColumn(RUN_CONFIG, config, { ...location, column: "config" }),
    metadata: parseJsonColumn(METADATA, metadata, { ...location, column: "metadata" }),
  });
}

function policyColumns({ match, reason, refusal, ...columns }: Policy) {
  return { ...columns, match: toJson(match), reason: reason ?? null, refusal: refusal ?? null };
}

function policyOf({ match, ...row }: Rows.Policy): Policy {
  const location = { table: "policies", id: row.id, column: "match" } as const;
  return withoutNulls<Policy>({ ...row, match: parseJsonColumn(POLICY_MATCH, match, location) });
}

function routingRuleColumns({ match, config, environmentId, ...columns }: RoutingRule) {
  return { ...columns, match: toJson(match), config: toJson(config), environmentId: environmentId ?? null };
}

function routingRuleOf({ config, match, ...row }: Rows.RoutingRule): RoutingRule {
  const location = { table: "routing_rules", id: row.id } as const;
  return withoutNulls<RoutingRule>({
    ...row,
    match: parseJsonColumn(ROUTING_MATCH, match, { ...location, column: "match" }),
    config: parseJsonColumn(RUN_CONFIG, config, { ...location, column: "config" }),
  });
}
