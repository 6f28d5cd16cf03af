import fc from "fast-check";
import { type ApiDocument, type JsonSchema, resolved } from "./openapi-operations.ts";

const DEPTH_MAX = 5;

/** Values that no schema expects and that programs nevertheless send. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, "", 0, -1, 1e21, true, [], {}, "0000", "\u202e", "constructor", "a".repeat(5_000)),
);

/** Values close to a schema: mostly of its types and often valid, sometimes something else. */
export function arbitraryOf(schema: JsonSchema, document: ApiDocument, depth = 0): fc.Arbitrary<unknown> {
  if (depth > DEPTH_MAX) {
    return junk;
  }
  const acceptable = fittingOf(resolved(schema, document), document, depth);
  return fc.oneof({ arbitrary: acceptable, weight: 9 }, { arbitrary: junk, weight: 1 });
}

function fittingOf(schema: JsonSchema, document: ApiDocument, depth: number): fc.Arbitrary<unknown> {
  const { examples = [] } = schema;
  const made = madeOf(schema, document, depth);
  if (examples.length === 0) {
    return made;
  }
  return fc.oneof({ arbitrary: made, weight: 4 }, { arbitrary: fc.constantFrom(...examples), weight: 1 });
}

function madeOf(schema: JsonSchema, document: ApiDocument, depth: number): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) {
    return fc.oneof(...choices.map((one) => arbitraryOf(one, document, depth + 1)));
  }
  if (schema.enum !== undefined) {
    return fc.constantFrom(...schema.enum);
  }
  if (schema.const !== undefined) {
    return fc.constant(schema.const);
  }
  switch ([schema.type].flat()[0]) {
    case "object":
      return objectOf(schema, document, depth);
    case "array":
      return fc.array(arbitraryOf(schema.items ?? {}, document, depth + 1), { maxLength: 6 });
    case "string":
      return textOf(schema.format);
    case "integer":
      return fc.integer({ min: clamp(schema.minimum, -5), max: clamp(schema.maximum, 1_000) });
    case "number":
      return fc.double();
    case "boolean":
      return fc.boolean();
    default:
      return junk;
  }
}

/** Most members that the schema names, with some that it does not know. */
function objectOf(schema: JsonSchema, document: ApiDocument, depth: number): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const members = Object.entries(properties).map(([name, member]) => {
    const value = arbitraryOf(member, document, depth + 1);
    const isThere = required.includes(name) ? 19 : 1;
    return [name, fc.option(value, { nil: undefined, freq: isThere })] as const;
  });
  const rest = typeof additionalProperties === "object" ? additionalProperties : {};
  const others = fc.dictionary(
    fc.string({ unit: "binary", maxLength: 20 }),
    arbitraryOf(rest, document, depth + 1),
    {
      maxKeys: Object.keys(properties).length === 0 ? 8 : 1,
    },
  );
  return fc
    .tuple(fc.record(Object.fromEntries(members)), others)
    .map(([known, more]) => ({ ...more, ...known }));
}

function textOf(format: string | undefined): fc.Arbitrary<string> {
  const plain = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.constantFrom("a\0b", "\ud800", "main", "0 9 * * 1", "owner/repo", "demo", "a".repeat(300)),
  );
  switch (format) {
    case "uuid":
      return fc.oneof(fc.uuid(), plain);
    case "date-time":
      return fc.oneof(
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        plain,
      );
    case "uri":
      return fc.oneof(fc.webUrl(), plain);
    default:
      return plain;
  }
}

/** Beyond these limits the exact value makes no difference. */
function clamp(limit: number | undefined, fallback: number): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, limit ?? fallback));
}
