import { isDeepStrictEqual } from "node:util";
import { describeResponses } from "./openapi-responses.ts";

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/**
 * The schema library names each schema twice, as it comes in (`RunItemInput`) and as it goes out (`RunItem`), and
 * closes the outgoing ones. Clients know one name for each, and version 1 may grow.
 */
export function tidyDocument<T extends object>(document: T): T {
  const opened = JSON.parse(JSON.stringify(document), tidyMember) as T & Document;
  const schemas = oneOfEach(opened.components?.schemas ?? {});
  return describeResponses({ ...opened, components: { ...opened.components, schemas } });
}

const INCOMING = /Input$/;

function tidyMember(name: string, value: unknown): unknown {
  if (name === "additionalProperties" && value === false) return undefined;
  if (name === "$ref") return String(value).replace(INCOMING, "");
  return isObjectInQuery(value) ? { ...value, style: "deepObject", explode: true } : value;
}

function isObjectInQuery(value: unknown): value is object {
  if (typeof value !== "object" || value === null || !("in" in value) || !("schema" in value)) return false;
  const { schema } = value;
  return (
    value.in === "query" &&
    typeof schema === "object" &&
    schema !== null &&
    Reflect.get(schema, "type") === "object"
  );
}

function oneOfEach(schemas: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain = Object.entries(schemas).filter(([name]) => !INCOMING.test(name));
  for (const [name, schema] of plain) {
    if (isDeepStrictEqual(schema, schemas[`${name}Input`])) continue;
    throw new Error(`The schema ${name} differs as it comes in and as it goes out; it needs two names.`);
  }
  return Object.fromEntries(plain);
}
