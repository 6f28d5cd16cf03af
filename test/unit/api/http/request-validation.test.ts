import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { structured } from "../../../../src/api/http/query.ts";
import { compileValidator } from "../../../../src/api/http/request-validation.ts";
import { ListRunsQuery } from "../../../../src/api/schemas/list-runs.ts";
import { RunAgentRequest } from "../../../../src/api/schemas/run-requests.ts";
import { AppError } from "../../../../src/core/basics/errors.ts";

const Inner = z.looseObject({ kept: z.string().optional() });
const check = compileValidator({
  schema: z.object({
    inner: Inner.optional(),
    map: z.record(z.string(), Inner).optional(),
    size: z.int().default(7),
  }),
});

describe("an optional that is null or empty", () => {
  test("an optional member that is null or empty is absent, at every depth of the schema", () => {
    const input = { inner: { kept: null }, map: { a: { kept: "" } }, size: "" };

    expect(check(input)).toEqual({ value: { inner: {}, map: { a: {} }, size: 7 } });
  });

  test("a null or empty member that the schema does not name is unchanged", () => {
    expect(check({ inner: { other: null, more: "" } })).toEqual({
      value: { inner: { other: null, more: "" }, size: 7 },
    });
  });
});

test("an inherited name of objects is not a member of the schema", () => {
  expect(check({ inner: { constructor: null } })).toEqual({
    value: { inner: { constructor: null }, size: 7 },
  });
});

test("all problems are listed, and the message contains the first", () => {
  const result = check({ inner: 1, map: 2 });

  expect(result).toMatchObject({
    error: { code: "invalid_request", message: expect.stringMatching(/^inner: .*1 more/) },
  });
});

test("the issue of an invalid member name says how names must be", () => {
  const result = compileValidator({ schema: RunAgentRequest })({ prompt: "x", metadata: { "a=b": "c" } });

  expect(result).toMatchObject({
    error: {
      options: {
        issues: [{ path: "metadata.a=b", message: expect.stringMatching(/^name must be 1 to 64/) }],
      },
    },
  });
});

test("deep nesting is refused before it exhausts the stack", () => {
  const endless = JSON.parse(`${'{"inner":'.repeat(5_000)}{}${"}".repeat(5_000)}`);

  expect(check(endless)).toMatchObject({ error: { message: expect.stringContaining("nested") } });
});

test("any input is accepted or refused without an exception", () => {
  const asBody = compileValidator({ schema: RunAgentRequest });
  const asQuery = compileValidator({ schema: ListRunsQuery });
  const members = fc.dictionary(
    fc.constantFrom(
      "prompt",
      "config",
      "metadata",
      "images",
      "title",
      "limit",
      "state",
      "created_after",
      "metadata[a]",
    ),
    fc.anything({ withNullPrototype: true }),
  );

  fc.assert(
    fc.property(fc.oneof(fc.anything(), members), (input) => {
      for (const result of [asBody(input), asQuery(structured(ListRunsQuery, Object(input)))]) {
        expect("value" in result || result.error instanceof AppError).toBe(true);
      }
    }),
  );
});
