import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { OwnerId } from "../core/model/people/ownership.ts";
import type { Environment } from "../core/model/workspaces/environment.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { Environment as EnvironmentRow } from "./generated/client.ts";
import { ENVIRONMENT_CONFIG } from "./json-columns.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { parseJsonColumn, toJson } from "./rows.ts";

export function createEnvironmentStore(database: Statements): RecordStore<Environment> {
  return new PrismaRecordStore<Environment, EnvironmentRow, ReturnType<typeof columnsOf>>(database, {
    table: (client) => client.environment,
    columnsOf,
    recordOf: environmentOf,
  });
}

function columnsOf({ config, ...columns }: Environment) {
  return { ...columns, config: toJson(config) };
}

function environmentOf(row: EnvironmentRow): Environment {
  return {
    ...row,
    teamId: row.teamId as TeamId,
    ownerId: row.ownerId as OwnerId,
    creatorId: row.creatorId as PrincipalId,
    lastEditorId: row.lastEditorId as PrincipalId,
    config: parseJsonColumn(ENVIRONMENT_CONFIG, row.config, {
      table: "environments",
      id: row.id,
      column: "config",
    }),
  };
}
