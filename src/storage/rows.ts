import type { z } from "zod";
import type { Prisma } from "./generated/client.ts";

/** A row in the shape of a domain type: an absent member is null. */
export type Nullable<T> = {
  [Key in keyof T]: Exclude<T[Key], undefined> | (undefined extends T[Key] ? null : never);
};

/** The row without its nulls: in the domain, such a member is absent. */
export function withoutNulls<T extends object>(row: Nullable<T>): T {
  // Long lists call this for each row, and `Object.entries` takes three times as long as this loop.
  const members: Partial<Nullable<T>> = {};
  for (const name in row) {
    if (row[name] !== null) {
      members[name] = row[name];
    }
  }
  return members as T;
}

/** The column of a Prisma field. The schema names all columns by this rule. */
export function columnOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A select list that names each column as its Prisma field, so that a row looks like one of Prisma. */
export function selectList(fields: readonly string[]): string {
  return fields.map((field) => `${columnOf(field)} AS "${field}"`).join(", ");
}

/** A value for a JSON column. The type that Prisma declares for such values has no readonly members. */
export function toJson(value: unknown): Prisma.InputJsonValue {
  return value as Prisma.InputJsonValue;
}

/** Where a JSON value is stored, for the error of one that does not fit. */
export interface JsonLocation {
  readonly table: string;
  readonly id: string;
  readonly column: string;
}

/** The value of a JSON column. If it does not fit, throws an error that names the location and never the content. */
export function parseJsonColumn<T>(schema: z.ZodType<T>, value: unknown, location: JsonLocation): T {
  const { data, error, success } = schema.safeParse(value);
  if (success) {
    return data;
  }
  throw invalidJson(location, error.issues[0]?.path ?? []);
}

export function invalidJson({ table, id, column }: JsonLocation, path: readonly PropertyKey[]): Error {
  return new Error(`The row ${id} of the table ${table} is not valid at ${[column, ...path].join(".")}.`);
}
