import { jsonPointer } from "../../basics/json-pointer.ts";
import { keysOf } from "../../basics/keys-of.ts";

/** What the answer of a run must match: a JSON Schema of the draft 2020-12. */
export type OutputSchema = Readonly<Record<string, unknown>>;

export const OUTPUT_SCHEMA_BYTES_MAX = 64 * 1_024;
/** How many names may lead to a schema inside of the schema. */
const DEPTH_MAX = 64;
const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** What is wrong with a schema, and where it is: the names and indexes that lead to it. */
export interface SchemaProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** The keywords that a value is checked against, by what they have. All others are notes for the agent, as the draft says. */
const KEYWORDS = {
  count: [
    ...["maxContains", "maxItems", "maxLength", "maxProperties"],
    ...["minContains", "minItems", "minLength", "minProperties"],
  ],
  flag: ["uniqueItems"],
  list: ["enum"],
  names: ["required"],
  namesMap: ["dependentRequired"],
  number: ["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"],
  pattern: ["pattern"],
  schema: [
    ...[
      "additionalProperties",
      "contains",
      "items",
      "propertyNames",
      "unevaluatedItems",
      "unevaluatedProperties",
    ],
    ...["else", "if", "not", "then"],
  ],
  schemas: ["allOf", "anyOf", "oneOf", "prefixItems"],
  schemaMap: ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"],
  text: ["$anchor", "$id", "$ref", "$schema", "format"],
  type: ["type"],
  value: ["const"],
} as const;

type Shape = keyof typeof KEYWORDS;

const SHAPES = new Map<string, Shape>(
  keysOf(KEYWORDS).flatMap((shape) => KEYWORDS[shape].map((keyword) => [keyword, shape] as const)),
);

/** These lead to a schema that depends on where the evaluation came from, or to one of an earlier draft. */
const REFUSED = [
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveAnchor",
  "$recursiveRef",
  "additionalItems",
  "dependencies",
  "id",
];

const EXPECTED: Readonly<Record<Shape, string>> = {
  count: "must be a whole number that is not negative",
  flag: "must be true or false",
  list: "must be a list",
  names: "must be a list of names",
  namesMap: "must be an object of lists of names",
  number: "must be a number",
  pattern: "must be a regular expression",
  schema: "must be a schema: an object, true or false",
  schemas: "must be a list of at least one schema",
  schemaMap: "must be an object of schemas",
  text: "must be a text",
  type: `must be one or several of ${TYPES.join(", ")}`,
  value: "must be a value",
};

/**
 * The first problem of a schema that callers wrote. What it allows is bounded in size and depth, leads to nothing outside
 * of itself, and has keywords of the right types. It may still take very long to evaluate.
 */
export function outputSchemaProblem(schema: OutputSchema): SchemaProblem | undefined {
  if (new TextEncoder().encode(JSON.stringify(schema)).length > OUTPUT_SCHEMA_BYTES_MAX) {
    return { path: [], message: `must have at most ${OUTPUT_SCHEMA_BYTES_MAX} bytes` };
  }
  const seen: Seen = { refs: [], places: new Set(["#"]) };
  return problemIn(schema, [], seen) ?? unknownRef(seen);
}

interface Seen {
  readonly refs: { readonly path: readonly string[]; readonly ref: string }[];
  /** The references that lead to a schema. */
  readonly places: Set<string>;
}

/** The schema with nothing but what a value is checked against. */
export function evaluatedPart(schema: unknown): unknown {
  if (!isMembers(schema)) {
    return schema;
  }
  const kept = Object.entries(schema).filter(([keyword]) => SHAPES.get(keyword) !== undefined);
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, NESTED[SHAPES.get(keyword) ?? "value"]?.(value) ?? value]),
  );
}

const NESTED: { readonly [Name in Shape]?: (value: unknown) => unknown } = {
  schema: evaluatedPart,
  schemas: (value) => (Array.isArray(value) ? value.map(evaluatedPart) : value),
  schemaMap: (value) =>
    isMembers(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, evaluatedPart(inner)]))
      : value,
};

function problemIn(schema: unknown, path: readonly string[], seen: Seen): SchemaProblem | undefined {
  if (typeof schema !== "boolean" && !isMembers(schema)) {
    return { path, message: EXPECTED.schema };
  }
  if (path.length > DEPTH_MAX) {
    return { path, message: `must not be deeper than ${DEPTH_MAX} names` };
  }
  seen.places.add(`#${jsonPointer(path)}`);
  for (const [keyword, value] of Object.entries(schema)) {
    const place = [...path, keyword];
    const message = keywordProblem(keyword, value, path.length === 0);
    const problem =
      message === undefined
        ? nestedProblem(keyword, value, { ...seen, path: place })
        : { path: place, message };
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

function keywordProblem(keyword: string, value: unknown, isTop: boolean): string | undefined {
  if (REFUSED.includes(keyword)) {
    return "is not supported";
  }
  const shape = SHAPES.get(keyword);
  if (shape !== undefined && !HAS_SHAPE[shape](value)) {
    return EXPECTED[shape];
  }
  if (keyword === "$ref" && !String(value).startsWith("#")) {
    return "must begin with #: a schema of another document is not read";
  }
  if (keyword === "$schema" && !DRAFT.test(String(value))) {
    return "must be https://json-schema.org/draft/2020-12/schema";
  }
  if (keyword === "$id" && !isTop) {
    return "may only be at the top";
  }
  const isWrong = keyword === "patternProperties" && !Object.keys(value ?? {}).every(isPattern);
  return isWrong ? "must have a regular expression as each name" : undefined;
}

function nestedProblem(
  keyword: string,
  value: unknown,
  { path, ...seen }: Seen & { readonly path: readonly string[] },
): SchemaProblem | undefined {
  const shape = SHAPES.get(keyword);
  if (keyword === "$ref") {
    seen.refs.push({ path, ref: String(value) });
  } else if (keyword === "$anchor") {
    seen.places.add(`#${String(value)}`);
  } else if (shape === "schema") {
    return problemIn(value, path, seen);
  } else if (shape === "schemas" || shape === "schemaMap") {
    for (const [name, inner] of Object.entries(value ?? {})) {
      const problem = problemIn(inner, [...path, name], seen);
      if (problem !== undefined) {
        return problem;
      }
    }
  }
  return undefined;
}

const HAS_SHAPE: Readonly<Record<Shape, (value: unknown) => boolean>> = {
  count: (value) => Number.isInteger(value) && Number(value) >= 0,
  flag: (value) => typeof value === "boolean",
  list: Array.isArray,
  names: isNames,
  namesMap: (value) => isMembers(value) && Object.values(value).every(isNames),
  number: (value) => typeof value === "number",
  pattern: isPattern,
  schema: (value) => typeof value === "boolean" || isMembers(value),
  schemas: (value) => Array.isArray(value) && value.length > 0,
  schemaMap: isMembers,
  text: (value) => typeof value === "string",
  type: (value) => {
    const types: readonly unknown[] = Array.isArray(value) ? value : [value];
    return types.length > 0 && types.every((type) => typeof type === "string" && TYPES.includes(type));
  },
  value: () => true,
};

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function unknownRef({ places, refs }: Seen): SchemaProblem | undefined {
  const missing = refs.find(({ ref }) => !places.has(decoded(ref)));
  return missing && { path: missing.path, message: `${missing.ref} leads to no schema` };
}

function decoded(ref: string): string {
  try {
    return decodeURIComponent(ref);
  } catch {
    return ref;
  }
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u").source !== "";
  } catch {
    return false;
  }
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
