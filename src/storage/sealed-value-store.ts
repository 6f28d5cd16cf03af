import { renewalOwner } from "../core/model/people/sign-in.ts";
import { serverOwner } from "../core/model/secrets/mcp-server.ts";
import { valuesOwner } from "../core/model/secrets/sealed-values.ts";
import { sealOwner as secretOwner } from "../core/model/secrets/secret.ts";
import { secretOwner as webhookOwner } from "../core/model/webhooks/webhook.ts";
import { settingOwner } from "../core/ports/stores/adapter-settings.ts";
import { credentialsOwner } from "../core/ports/stores/app-installations.ts";
import { answerOwner } from "../core/ports/stores/idempotency-store.ts";
import type { SealedRow, SealedValueStore } from "../core/upkeep/secret-key-rotation.ts";
import type { Statements } from "./database.ts";
import type { IdempotentResponse, Installation, Secret } from "./generated/client.ts";

/** The columns of the rows that tell whom a sealed value belongs to. A row has those that its table names. */
interface OwnerColumns {
  readonly id: string;
  readonly team_id: Secret["teamId"];
  readonly owner_id: Secret["ownerId"];
  readonly name: string;
  readonly principal_id: IdempotentResponse["principalId"];
  readonly key: string;
  readonly adapter: Installation["adapter"];
  readonly external_id: Installation["externalId"];
}

interface SealedColumn {
  readonly column: string;
  readonly type: "text" | "jsonb";
  /** The text before a sealed value in this column, as a regular expression. */
  readonly before: string;
  readonly ownerColumns: readonly (keyof OwnerColumns)[];
  readonly ownerOf: (columns: OwnerColumns) => string;
  /** Default: the column `id`, a UUID. */
  readonly key?: { readonly sql: string; readonly first: string; readonly type: "uuid" | "text" };
}

const UUID_KEY = { sql: "id", first: "00000000-0000-0000-0000-000000000000", type: "uuid" } as const;

/** Values of MCP servers in a configuration. */
const CONFIG: SealedColumn = {
  column: "config",
  type: "jsonb",
  before: '"sealed:',
  ownerColumns: ["team_id"],
  ownerOf: ({ team_id }) => valuesOwner(team_id),
};

/** All columns with sealed values, by their tables. */
const SEALED_COLUMNS: Readonly<Record<string, SealedColumn>> = {
  secrets: {
    column: "sealed",
    type: "text",
    before: "^",
    ownerColumns: ["team_id", "owner_id", "name"],
    ownerOf: ({ team_id: teamId, owner_id: ownerId, name }) => secretOwner({ teamId, ownerId, name }),
  },
  mcp_servers: {
    column: "sealed",
    type: "text",
    before: "^",
    ownerColumns: ["team_id"],
    ownerOf: ({ id, team_id: teamId }) => serverOwner({ teamId, id }),
  },
  webhook_endpoints: {
    column: "secrets",
    type: "jsonb",
    before: '"sealed": "',
    ownerColumns: [],
    ownerOf: ({ id }) => webhookOwner(id),
  },
  sign_ins: {
    column: "sealed_renewal",
    type: "text",
    before: "^",
    ownerColumns: [],
    ownerOf: ({ id }) => renewalOwner(id),
  },
  installations: {
    column: "sealed_credentials",
    type: "text",
    before: "^",
    ownerColumns: ["adapter", "external_id"],
    ownerOf: ({ adapter, external_id: externalId }) => credentialsOwner({ adapter, externalId }),
  },
  adapter_settings: {
    column: "sealed",
    type: "text",
    before: "^",
    ownerColumns: [],
    ownerOf: ({ id }) => settingOwner(id),
    key: { sql: "id", first: "", type: "text" },
  },
  runs: CONFIG,
  schedules: CONFIG,
  named_agents: CONFIG,
  routing_rules: CONFIG,
  idempotent_responses: {
    column: "body",
    type: "jsonb",
    before: '^"',
    ownerColumns: ["principal_id", "key"],
    ownerOf: ({ principal_id: principalId, key }) => answerOwner({ principalId, key }),
    key: { sql: "(principal_id || ' ' || key)", first: "", type: "text" },
  },
};

/** Rows that are read at once. */
const BATCH = 100;

export class PrismaSealedValueStore implements SealedValueStore {
  readonly tables = Object.keys(SEALED_COLUMNS);
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(prefix: string, table: string, after: string | undefined): Promise<readonly SealedRow[]> {
    const sealed = columnOf(table);
    const { column, key = UUID_KEY, ownerColumns, ownerOf } = sealed;
    const owners = ownerColumns.map((name) => `, ${name}::text AS ${name}`).join("");
    const rows = await this.#database.rows<OwnerColumns & { readonly content: string }>({
      text: `
        SELECT ${key.sql}::text AS id, ${column}::text AS content${owners} FROM ${table}
        WHERE ${key.sql} > $1::${key.type} AND ${column}::text ~ $2 ORDER BY ${key.sql} LIMIT ${BATCH}`,
      values: [after ?? key.first, otherKeys(sealed, prefix)],
    });
    return rows.map((row) => ({ table, id: row.id, owner: ownerOf(row), content: row.content }));
  }

  async replace({ content: before, id, table }: SealedRow, content: string): Promise<void> {
    const { column, key = UUID_KEY, type } = columnOf(table);
    await this.#database.rows({
      text: `
        UPDATE ${table} SET ${column} = $3::${type}
        WHERE ${key.sql} = $1::${key.type} AND ${column}::text = $2`,
      values: [id, before, content],
    });
  }

  async count(prefix: string): Promise<number> {
    let count = 0;
    for (const [table, sealed] of Object.entries(SEALED_COLUMNS)) {
      const [row] = await this.#database.rows<{ count: number }>({
        text: `SELECT count(*)::int AS count FROM ${table} WHERE ${sealed.column}::text ~ $1`,
        values: [otherKeys(sealed, prefix)],
      });
      count += row?.count ?? 0;
    }
    return count;
  }
}

function columnOf(table: string): SealedColumn {
  const column = SEALED_COLUMNS[table];
  if (column === undefined) {
    throw new Error(`The table ${table} has no sealed values.`);
  }
  return column;
}

/** A regular expression for values under another key than that of `prefix`, which has no character but dots to escape. */
function otherKeys({ before }: SealedColumn, prefix: string): string {
  return `${before}(?!${prefix.replaceAll(".", "\\.")})v1\\.[0-9a-f]{8}\\.`;
}
