import {
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlQuery,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import { type Client, DatabaseError } from "pg";

/** The types of PostgreSQL's catalog that appear in queries of the schema engine, by object id. */
const CATALOG_TYPES: Readonly<Record<number, ColumnType>> = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  19: ColumnTypeEnum.Text,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  25: ColumnTypeEnum.Text,
  26: ColumnTypeEnum.Int64,
  1002: ColumnTypeEnum.CharacterArray,
  1009: ColumnTypeEnum.TextArray,
  1043: ColumnTypeEnum.Text,
};

/**
 * Connects Prisma's schema engine to one connection. `@prisma/adapter-pg` does not suit: it does not know the
 * catalog's type "char", and it splits scripts at every semicolon, also within functions and literals.
 */
export function adaptForCatalog(client: Client): SqlDriverAdapter {
  return {
    provider: "postgres",
    adapterName: "errand-catalog",
    queryRaw: (query) => queryRaw(client, query),
    executeRaw: async ({ sql, args }) => (await client.query(sql, args)).rowCount ?? 0,
    executeScript: (script) => executeScript(client, script),
    startTransaction: () => Promise.reject(new Error("The schema engine asked for a transaction")),
    dispose: () => client.end(),
  };
}

async function queryRaw(client: Client, { sql, args }: SqlQuery): Promise<SqlResultSet> {
  const { fields, rows } = await client.query({ text: sql, values: args, rowMode: "array" });
  return {
    columnNames: fields.map((field) => field.name),
    columnTypes: fields.map((field) => typeOf(field.dataTypeID, field.name)),
    rows,
  };
}

/** For any other kind of error the engine would only report that there was one. */
async function executeScript(client: Client, script: string): Promise<void> {
  try {
    await client.query(script);
  } catch (error) {
    if (!(error instanceof DatabaseError)) {
      throw error;
    }
    const { code = "", severity = "", message, detail, column, hint } = error;
    throw new DriverAdapterError({ kind: "postgres", code, severity, message, detail, column, hint });
  }
}

function typeOf(objectId: number, column: string): ColumnType {
  const type = CATALOG_TYPES[objectId];
  if (type === undefined) {
    throw new Error(`Column ${column} of the catalog has a type not listed here: ${objectId}`);
  }
  return type;
}
