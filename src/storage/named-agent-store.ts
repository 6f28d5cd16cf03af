import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { NamedAgent } from "../core/model/defaults/named-agent.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { NamedAgent as NamedAgentRow } from "./generated/client.ts";
import { OTHER_MEMBERS, RUN_CONFIG } from "./json-columns.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { parseJsonColumn, toJson, withoutNulls } from "./rows.ts";

export function createNamedAgentStore(database: Statements): RecordStore<NamedAgent> {
  return new PrismaRecordStore<NamedAgent, NamedAgentRow, ReturnType<typeof columnsOf>>(database, {
    table: (client) => client.namedAgent,
    columnsOf,
    recordOf: namedAgentOf,
  });
}

function columnsOf({ config, description, others, secretNames, ...columns }: NamedAgent) {
  const json = { config: toJson(config), others: toJson(others) };
  return { ...columns, ...json, description: description ?? null, secretNames: [...secretNames] };
}

function namedAgentOf({ config, others, ...row }: NamedAgentRow): NamedAgent {
  const location = { table: "named_agents", id: row.id } as const;
  return withoutNulls<NamedAgent>({
    ...row,
    id: row.id as PrincipalId,
    teamId: row.teamId as TeamId,
    config: parseJsonColumn(RUN_CONFIG, config, { ...location, column: "config" }),
    others: parseJsonColumn(OTHER_MEMBERS, others, { ...location, column: "others" }),
  });
}
