import { defined } from "../../core/basics/defined.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Names the objects inside of schemas after their place, so that clients generated from the document have readable
 * types: `options` of `RunQuestion` is a list of `RunQuestionOption`. The variants of a union need ids of their own,
 * because their places have no name.
 */
export function nameInnerSchemas(schemas: Schema): Schema {
  const named = new Map<string, unknown>();
  const add = (name: string, schema: Schema): void => {
    if (named.has(name) || name in schemas) {
      throw new Error(`Two schemas would have the name ${name}, so one of them needs an id.`);
    }
    named.set(name, {});
    named.set(name, withNames(schema, name, add));
  };
  for (const [name, schema] of Object.entries(schemas)) {
    named.set(name, isSchema(schema) ? withNames(schema, name, add) : schema);
  }
  return Object.fromEntries(named);
}

type Add = (name: string, schema: Schema) => void;

/** Replaces the objects in `schema`, which is called `name`, by references. */
function withNames(schema: Schema, name: string, add: Add): Schema {
  const { properties } = schema;
  if (!isSchema(properties)) {
    return schema;
  }
  const members = Object.entries(properties).map(([member, value]) => {
    const inner = `${name}${pascalCase(member)}`;
    return [member, isSchema(value) ? withReference(value, inner, add) : value] as const;
  });
  return { ...schema, properties: Object.fromEntries(members) };
}

function withReference(schema: Schema, name: string, add: Add): Schema {
  if (isObject(schema)) {
    return referenceTo(name, schema, add);
  }
  const { additionalProperties, anyOf, items } = schema;
  if (isSchema(items)) {
    return { ...schema, items: isNameable(items) ? entryReference(name, items, add) : items };
  }
  if (isSchema(additionalProperties) && isObject(additionalProperties)) {
    return { ...schema, additionalProperties: entryReference(name, additionalProperties, add) };
  }
  if (Array.isArray(anyOf) && anyOf.length === 2 && anyOf.some(isNull)) {
    const options = anyOf.map((option) => (isNameable(option) ? referenceTo(name, option, add) : option));
    return { ...schema, anyOf: options };
  }
  return schema;
}

/** An entry of a list rarely has a description of its own. */
function entryReference(listName: string, schema: Schema, add: Add): Schema {
  return referenceTo(singular(listName), { description: `An entry of \`${listName}\`.`, ...schema }, add);
}

/** The description stays at the place too, because it says what the object is for there. */
function referenceTo(name: string, schema: Schema, add: Add): Schema {
  const { description } = schema;
  add(name, schema);
  return defined({ description, $ref: `#/components/schemas/${name}` });
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObject(schema: Schema): boolean {
  return schema.type === "object" && isSchema(schema.properties);
}

function isNameable(schema: unknown): schema is Schema {
  return isSchema(schema) && (isObject(schema) || Array.isArray(schema.enum));
}

function isNull(schema: unknown): boolean {
  return isSchema(schema) && schema.type === "null";
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|[_.])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function singular(name: string): string {
  return name.replace(/ies$/, "y").replace(/(?<!s)s$/, "");
}
