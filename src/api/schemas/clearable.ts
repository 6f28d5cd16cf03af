import type { z } from "zod";

const CLEARABLE = new WeakSet<z.core.$ZodType>();

/**
 * Marks a member whose empty text means something: it removes the value. Elsewhere an empty member counts as absent.
 * Must be called last, because other methods of the schema return a copy.
 */
export function clearable<Schema extends z.ZodType>(schema: Schema): Schema {
  CLEARABLE.add(schema);
  return schema;
}

export function isClearable(schema: z.core.$ZodType): boolean {
  return CLEARABLE.has(schema);
}
