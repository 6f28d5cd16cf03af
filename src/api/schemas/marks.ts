import { z } from "zod";

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

const CLEARABLE = new WeakSet<z.core.$ZodType>();

/**
 * Marks a member whose empty text means something: it removes the value. Elsewhere an empty member counts as absent.
 * Also marks an object none of whose members may be left out by being empty.
 * Must be called last, because other methods of the schema return a copy.
 */
export function clearable<Schema extends z.ZodType>(schema: Schema): Schema {
  CLEARABLE.add(schema);
  return schema;
}

export function isClearable(schema: z.core.$ZodType): boolean {
  return CLEARABLE.has(schema);
}

/**
 * Marks a schema that the document shows as a union: the ids of its variants. A request is checked by the schema itself,
 * because the errors of a union without a tag do not say which variant the caller meant.
 */
export const ONE_OF = "x-one-of";

/** Returns the type of the value that a schema accepts, without what makes it optional or converts it. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) {
    return unwrapped(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  }
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return isWrapper ? unwrapped(schema.unwrap()) : schema;
}
