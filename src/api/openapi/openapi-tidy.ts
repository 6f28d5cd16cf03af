import { isDeepStrictEqual } from "node:util";
import { nameInnerSchemas } from "./openapi-names.ts";
import { describeResponses } from "./openapi-responses.ts";
import { describeUnions } from "./openapi-unions.ts";

interface Document {
  readonly paths?: object;
  readonly components?: { readonly schemas?: Schemas };
}
type Schemas = Readonly<Record<string, unknown>>;

/**
 * The schema library defines each schema twice, for requests (`RunItemInput`) and for responses (`RunItem`), and
 * closes the latter. The document has one open schema for both, because version 1 may get new members.
 */
export function tidyDocument<T extends object>(document: T): T {
  const { components = {}, paths = {} }: Document = document;
  const schemas = oneOfEach(components.schemas ?? {}, paths);
  const whole = tidied({ ...document, components: { ...components, schemas } });
  const named = nameInnerSchemas(whole.components.schemas);
  const complete = describeUnions({ ...whole, components: { ...whole.components, schemas: named } }, named);
  // The type does not change, because only the content of the document differs.
  return describeResponses(complete) as unknown as T;
}

const INCOMING = /Input$/;
/** The beginnings of the library's patterns for UUIDs and times. */
const NOISE = ["^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-", "^(?:(?:\\d\\d[2468][048]|"];

function tidied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), tidyMember);
}

function tidyMember(name: string, value: unknown): unknown {
  if (name === "additionalProperties" && value === false) {
    return undefined;
  }
  if (name === "$ref") {
    return String(value).replace(INCOMING, "");
  }
  if (isObjectInQuery(value)) {
    return { ...value, style: "deepObject", explode: true };
  }
  return isNoise(name, value) ? undefined : value;
}

/** True for keywords without information: the range of all integers, and the library's pattern for a format. */
function isNoise(name: string, value: unknown): boolean {
  if (name === "pattern") {
    return NOISE.some((start) => String(value).startsWith(start));
  }
  return (name === "maximum" || name === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}

function isObjectInQuery(value: unknown): value is object {
  if (typeof value !== "object" || value === null || !("in" in value) || !("schema" in value)) {
    return false;
  }
  const { schema } = value;
  return (
    value.in === "query" &&
    typeof schema === "object" &&
    schema !== null &&
    Reflect.get(schema, "type") === "object"
  );
}

/** A default makes a member optional in requests and required in responses. Few schemas are used for both. */
function oneOfEach(schemas: Schemas, paths: object): Schemas {
  const used = usedNames(paths, schemas);
  const names = Object.keys(schemas).filter((name) => !INCOMING.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const [out, incoming] = [schemas[name], schemas[`${name}Input`]];
      if (!used.has(`${name}Input`) || isDeepStrictEqual(tidied(out), tidied(incoming))) {
        return [name, out];
      }
      // The library drops the examples of schemas that it changes for requests.
      if (!used.has(name)) {
        return [name, { examples: Object(out).examples, ...Object(incoming) }];
      }
      throw new Error(`The schema ${name} differs between requests and responses, so it needs two names.`);
    }),
  );
}

/** Returns the names to which the paths refer, directly or through other schemas. */
function usedNames(paths: object, schemas: Schemas): ReadonlySet<string> {
  const used = new Set(referredIn(paths));
  // Names that are added during the loop are visited as well.
  for (const name of used) {
    for (const inner of referredIn(schemas[name] ?? {})) {
      used.add(inner);
    }
  }
  return used;
}

function referredIn(value: object): string[] {
  const references = JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return Array.from(references, ([, name = ""]) => name);
}
