import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { createSchemaChecker } from "../../../src/json-schema/schema-checker.ts";

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  1.5,
  7,
  "",
  "abc",
  "ä",
  [],
  [1, 1],
  ["a", 2],
  {},
  { a: 1 },
  { a: "x", b: [] },
];

/** At least one for each keyword. */
const SCHEMAS: readonly Record<string, unknown>[] = [
  { type: "integer" },
  { type: ["string", "null"] },
  { enum: [1.5, { a: 1 }, null] },
  { const: [1, 1] },
  { minimum: 1, exclusiveMaximum: 7 },
  { maximum: 1.5, exclusiveMinimum: 0 },
  { multipleOf: 2 },
  { minLength: 1, maxLength: 2 },
  { pattern: "^[a-c]+$" },
  { minItems: 1, maxItems: 2, uniqueItems: true },
  { prefixItems: [{ type: "string" }], items: { type: "integer" } },
  { contains: { type: "integer" }, minContains: 2, maxContains: 3 },
  { prefixItems: [true], unevaluatedItems: false },
  { required: ["a"], minProperties: 2, maxProperties: 2 },
  { properties: { a: { type: "string" } }, additionalProperties: false },
  { patternProperties: { "^a": { type: "integer" } } },
  { propertyNames: { maxLength: 0 } },
  { dependentRequired: { a: ["b"] } },
  { dependentSchemas: { a: { required: ["c"] } } },
  { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
  { anyOf: [{ type: "string" }, { type: "array" }] },
  { oneOf: [{ type: "number" }, { minimum: 1 }] },
  { not: { type: "object" } },
  JSON.parse('{"if":{"type":"object"},"then":{"required":["a"]},"else":{"type":"string"}}'),
  {
    $ref: "#/$defs/a",
    $defs: {
      a: { type: "object", properties: { a: { $ref: "#here" } } },
      b: { $anchor: "here", type: "number" },
    },
  },
];

describe("values are checked as another implementation does", () => {
  const checker = createSchemaChecker(60_000);
  const ajv = new Ajv2020({ strict: false });

  test.each(SCHEMAS.map((schema) => [JSON.stringify(schema), schema] as const))(
    "%s",
    async (_text, schema) => {
      const whole = { type: "array", items: schema };
      const isWrong = VALUES.map((value) => !ajv.validate(schema, value));
      expect(new Set(isWrong).size).toBe(2);

      const problems = await checker.check(rooted(whole, schema), VALUES);

      const wrong = new Set(problems.map((problem) => /^\/(\d+)/.exec(problem)?.[1]));
      expect(VALUES.map((_value, index) => wrong.has(String(index)))).toEqual(isWrong);
    },
  );
});

/** References of the schema begin at the top. */
function rooted(whole: object, { $defs }: Record<string, unknown>): Record<string, unknown> {
  return $defs === undefined ? { ...whole } : { ...whole, $defs };
}

test.each([
  ["a regular expression that backtracks for ever", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
  ["references that double forty times", doubling(40), 1],
  [
    "a comparison of many lists",
    { uniqueItems: true },
    Array.from({ length: 30_000 }, (_, index) => [index]),
  ],
])("%s is stopped, and the process answers meanwhile", async (_what, schema, value) => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 20);

  await expect(createSchemaChecker(400).check(schema, value)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("could not be evaluated"),
  });

  clearInterval(timer);
  expect(ticks).toBeGreaterThan(1);
});

function doubling(times: number): Record<string, unknown> {
  const $defs: Record<string, unknown> = { [`d${times}`]: true };
  for (let index = 0; index < times; index += 1) {
    const next = { $ref: `#/$defs/d${index + 1}` };
    $defs[`d${index}`] = { allOf: [next, next] };
  }
  return { $ref: "#/$defs/d0", $defs };
}

test("no variable of the server is in the thread, and no code is made of a schema", async () => {
  const schema = { properties: { "a`${process.exit(3)}`": { const: "`);process.exit(3)//" } } };

  expect(await createSchemaChecker(60_000).check(schema, { "a`${process.exit(3)}`": 1 })).toHaveLength(1);
});
