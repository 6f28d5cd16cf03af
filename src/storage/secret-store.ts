import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { OwnerId } from "../core/model/people/ownership.ts";
import type { Secret } from "../core/model/secrets/secret.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { Secret as SecretRow } from "./generated/client.ts";
import { PrismaRecordStore } from "./record-store.ts";

export function createSecretStore(database: Statements): RecordStore<Secret> {
  return new PrismaRecordStore<Secret, SecretRow, Secret>(database, {
    table: (client) => client.secret,
    columnsOf: (secret) => secret,
    recordOf: secretOf,
  });
}

function secretOf(row: SecretRow): Secret {
  return {
    ...row,
    teamId: row.teamId as TeamId,
    ownerId: row.ownerId as OwnerId,
    editorId: row.editorId as PrincipalId,
  };
}
