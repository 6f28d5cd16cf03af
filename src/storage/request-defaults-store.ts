import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { RequestDefaults } from "../core/model/defaults/request-defaults.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { RequestDefaults as RequestDefaultsRow } from "./generated/client.ts";
import { RUN_CONFIG } from "./json-columns.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { parseJsonColumn, toJson } from "./rows.ts";

export function createRequestDefaultsStore(database: Statements): RecordStore<RequestDefaults> {
  return new PrismaRecordStore<RequestDefaults, RequestDefaultsRow, ReturnType<typeof columnsOf>>(database, {
    table: (client) => client.requestDefaults,
    columnsOf,
    recordOf,
  });
}

function columnsOf({ config, ...columns }: RequestDefaults) {
  return { ...columns, config: toJson(config) };
}

function recordOf({ config, editorId, teamId, ...row }: RequestDefaultsRow): RequestDefaults {
  const location = { table: "request_defaults", id: row.id, column: "config" } as const;
  return {
    ...row,
    teamId: teamId as TeamId,
    editorId: editorId as PrincipalId,
    config: parseJsonColumn(RUN_CONFIG, config, location),
  };
}
