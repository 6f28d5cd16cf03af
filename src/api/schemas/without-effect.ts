import type { z } from "zod";

type Members = Readonly<Record<string, unknown>>;

/** Whether a member has no effect, given the other members of its object and the whole body. */
type IsUnused = (siblings: Members, body: Members) => boolean;

const UNUSED = new WeakMap<z.core.$ZodType, IsUnused>();

/**
 * Marks a member that is accepted and, always or in this case, has no effect. Responses name such members, so that
 * no request is ignored in silence. Must be called last, because other methods of the schema return a copy.
 */
export function withoutEffect<Schema extends z.ZodType>(
  schema: Schema,
  isUnused: IsUnused = () => true,
): Schema {
  UNUSED.set(schema, isUnused);
  return schema;
}

export function hasNoEffect(schema: z.core.$ZodType, siblings: Members, body: Members): boolean {
  return UNUSED.get(schema)?.(siblings, body) ?? false;
}
