import { isDeepStrictEqual } from "node:util";
import { describeResponses } from "./openapi-responses.ts";

interface Document {
  readonly paths?: object;
  readonly components?: { readonly schemas?: Schemas };
}
type Schemas = Readonly<Record<string, unknown>>;

/**
 * The schema library names each schema twice, as it comes in (`RunItemInput`) and as it goes out (`RunItem`), and
 * closes the outgoing ones. Clients know one name for each, and version 1 may grow.
 */
export function tidyDocument<T extends object>(document: T): T {
  const { components = {}, paths = {} }: Document = document;
  const schemas = oneOfEach(components.schemas ?? {}, paths);
  const whole = { ...document, components: { ...components, schemas } };
  // The same document in other words, so of the same type.
  return describeResponses(tidied(whole)) as T;
}

const INCOMING = /Input$/;
/** How the library's patterns of a UUID and of a time begin. */
const NOISE = ["^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-", "^(?:(?:\\d\\d[2468][048]|"];

function tidied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), tidyMember);
}

function tidyMember(name: string, value: unknown): unknown {
  if (name === "additionalProperties" && value === false) return undefined;
  if (name === "$ref") return String(value).replace(INCOMING, "");
  if (isObjectInQuery(value)) return { ...value, style: "deepObject", explode: true };
  return isNoise(name, value) ? undefined : value;
}

/** What says nothing: that an integer is one, and how the library itself checks a format. */
function isNoise(name: string, value: unknown): boolean {
  if (name === "pattern") return NOISE.some((start) => String(value).startsWith(start));
  return (name === "maximum" || name === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
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

/** A default makes a member optional as it comes in and sure as it goes out; few schemas do both. */
function oneOfEach(schemas: Schemas, paths: object): Schemas {
  const used = usedNames(paths, schemas);
  const names = Object.keys(schemas).filter((name) => !INCOMING.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const [out, incoming] = [schemas[name], schemas[`${name}Input`]];
      if (!used.has(`${name}Input`) || isDeepStrictEqual(tidied(out), tidied(incoming))) return [name, out];
      // The library drops the examples of what is changed as it comes in.
      if (!used.has(name)) return [name, { examples: Object(out).examples, ...Object(incoming) }];
      throw new Error(`The schema ${name} differs as it comes in and as it goes out; it needs two names.`);
    }),
  );
}

/** The names that paths refer to, and what these refer to, and so on. */
function usedNames(paths: object, schemas: Schemas): ReadonlySet<string> {
  const used = new Set(referredIn(paths));
  // A set can be added to while it is walked.
  for (const name of used) {
    for (const inner of referredIn(schemas[name] ?? {})) used.add(inner);
  }
  return used;
}

function referredIn(value: object): string[] {
  const references = JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return Array.from(references, ([, name = ""]) => name);
}
