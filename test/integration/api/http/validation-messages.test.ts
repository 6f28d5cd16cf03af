import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { compileValidator } from "../../../../src/api/http/request-validation.ts";
import { unwrapped } from "../../../../src/api/schemas/marks.ts";
import { collectRoutes } from "../../../support/all-routes.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

let harness: ApiHarness;
/** The schemas of bodies and queries by the name of their route. */
const schemas = new Map<string, z.ZodType>();
beforeAll(async () => {
  const routes = await collectRoutes(async () => {
    harness = await startHarness();
  });
  for (const { method, schema, url } of routes) {
    for (const part of ["body", "querystring", "params"] as const) {
      const inner = schema?.[part];
      if (inner instanceof z.ZodType) {
        schemas.set(`${[method].flat()[0]} ${url} ${part}`, inner);
      }
    }
  }
});
afterAll(() => harness.close());

/** Phrases of the schema library. None of them is a word of this service. */
const FOREIGN =
  /Invalid (input|option|string|number|key|value|discriminator|UUID|URL|email|ISO)|Unrecognized|Too (small|big)|expected|received|zod|pattern/i;

const NO_UUID = "00000000-0000-0000-0000-00000000000g";
const BAD: readonly unknown[] = [
  ...[0, -1, 1.5, 1e300, true, "", "∅", NO_UUID, "a\nb", "x".repeat(70_000), null],
  ...[[], [[]], [1, "a"], Array.from({ length: 200 }, () => "x"), {}, { "a b!": 1 }, { type: "∅" }],
];

/** Values that differ from a possible one at one place: wrong types, missing, unknown and extra members, bad sizes. */
function* mutations(schema: z.core.$ZodType, depth = 0): Generator<unknown> {
  yield* BAD;
  const inner = unwrapped(schema);
  if (depth > 4) {
    return;
  }
  if (inner instanceof z.ZodObject) {
    const valid = Object.fromEntries(
      Object.entries(inner.shape).map(([name, member]) => [name, exampleOf(member)]),
    );
    yield { ...valid, unknownMember: 1 };
    for (const [name, member] of Object.entries(inner.shape)) {
      yield { ...valid, [name]: undefined };
      for (const value of mutations(member, depth + 1)) {
        yield { ...valid, [name]: value };
      }
    }
  } else if (inner instanceof z.ZodArray) {
    for (const value of mutations(inner.element, depth + 1)) {
      yield [value];
    }
  } else if (inner instanceof z.ZodRecord) {
    for (const value of mutations(inner.valueType, depth + 1)) {
      yield { a: value };
    }
  } else if (inner instanceof z.ZodUnion) {
    for (const option of inner.options) {
      yield* mutations(option, depth + 1);
    }
  }
}

/** A value of about the right form, so that its siblings are reached. */
function exampleOf(schema: z.core.$ZodType): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodLiteral) {
    return [...inner.values][0];
  }
  if (inner instanceof z.ZodEnum) {
    return inner.options[0];
  }
  return schema instanceof z.ZodOptional ? undefined : "x";
}

test("no text about a request is one of the schema library, whatever is wrong with it", () => {
  const foreign = new Set<string>();
  const seen = new Set<string>();
  for (const [route, schema] of schemas) {
    const check = compileValidator({ schema, httpPart: route.split(" ")[2] ?? "" });
    for (const value of mutations(schema)) {
      const result = check(value);
      for (const { message } of "error" in result ? (result.error.options.issues ?? []) : []) {
        seen.add(message);
        if (FOREIGN.test(message)) {
          foreign.add(`${route}: ${message}`);
        }
      }
    }
  }

  expect([...foreign].slice(0, 20)).toEqual([]);
  for (const message of ["is required", "must be a string", "must be true or false", "must not be empty"]) {
    expect(seen).toContain(message);
  }
  expect(seen.size).toBeGreaterThan(40);
}, 60_000);

const Sample = z.strictObject({
  name: z.string().min(2).max(3).optional(),
  list: z.array(z.string()).min(1).max(1).optional(),
  size: z.number().gt(1).lt(3).multipleOf(0.5).optional(),
  kind: z.enum(["a", "b"]).optional(),
  only: z.literal("x").optional(),
  id: z.uuid().optional(),
  code: z.string().regex(/^a$/).optional(),
  either: z.union([z.string(), z.array(z.string())]).optional(),
  shape: z
    .discriminatedUnion("type", [z.object({ type: z.literal("one") }), z.object({ type: z.literal("two") })])
    .optional(),
  names: z.record(z.string().regex(/^a/), z.int()).optional(),
});

test.each([
  [{ name: "a" }, "name", "must have at least 2 characters"],
  [{ name: "aaaa" }, "name", "must have at most 3 characters"],
  [{ list: [] }, "list", "must not be empty"],
  [{ list: ["a", "b"] }, "list", "must have at most 1 entries"],
  [{ size: 1 }, "size", "must be more than 1"],
  [{ size: 3 }, "size", "must be less than 3"],
  [{ size: 1.7 }, "size", "must be a multiple of 0.5"],
  [{ kind: "c" }, "kind", "must be one of a, b"],
  [{ only: "c" }, "only", "must be x"],
  [{ id: "c" }, "id", "must be a UUID"],
  [{ code: "c" }, "code", "must be in another format"],
  [{ either: 1 }, "either", "must be a string or a list"],
  [{ either: [1] }, "either", "must be a string"],
  [{ shape: {} }, "shape.type", "is required"],
  [{ shape: { type: "three" } }, "shape.type", "must be one of one, two"],
  [{ names: { b: 1 } }, "names.b", "name must be in another format"],
  [{ names: { a: 1.5 } }, "names.a", "must be a whole number"],
  [{ more: 1, others: 2 }, "", "must not have the members more, others"],
])("the text about %j", (value, path, message) => {
  expect(compileValidator({ schema: Sample })(value)).toMatchObject({
    error: { options: { issues: [{ path, message }] } },
  });
});
