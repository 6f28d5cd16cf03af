import { expect, test } from "vitest";
import { z } from "zod";
import { ignoredMembersOf } from "../../../../src/api/http/ignored-members.ts";
import { withoutEffect } from "../../../../src/api/schemas/marks.ts";

const Near = z.looseObject({ kind: z.literal("near"), path: z.string() });
const Far = z.looseObject({ kind: z.literal("far"), url: z.string() });
const Body = z.object({
  one: z.object({ a: z.string() }).nullable().optional(),
  many: z.array(z.object({ a: z.string() })).optional(),
  named: z.record(z.string(), z.object({ a: z.string() })).optional(),
  either: z.discriminatedUnion("kind", [Near, Far]).optional(),
  converted: z
    .object({ a: z.string() })
    .transform(({ a }) => a)
    .optional(),
  free: z.unknown().optional(),
  pairs: z.record(z.string(), z.string()).optional(),
  unused: withoutEffect(
    z.boolean().optional(),
    (siblings, body) => siblings === body && body.many !== undefined,
  ),
});

test.each<[string, unknown, string[]]>([
  ["no body", undefined, []],
  ["a text", "x", []],
  ["members that the schema names", { one: { a: "1" }, many: [{ a: "1" }], pairs: { b: "2" } }, []],
  ["an unknown member of an object", { one: { a: "1", b: 2 }, other: {} }, ["one.b", "other"]],
  ["an unknown member in a list", { many: [{ a: "1" }, { a: "1", b: 2 }] }, ["many.1.b"]],
  ["an unknown member in a record", { named: { x: { b: 2 } } }, ["named.x.b"]],
  ["a member of the other variant", { either: { kind: "far", url: "u", path: "p" } }, ["either.path"]],
  ["a value that no variant accepts", { either: { kind: "far", path: 1, x: 1 } }, ["either.x"]],
  ["a value that is converted", { converted: { a: "1", b: 2 } }, ["converted.b"]],
  ["a value of any structure", { free: { a: { b: 1 } } }, []],
  ["a member without effect in this body", { unused: false, many: [] }, ["unused"]],
  ["the same member in another body", { unused: false }, []],
  ["values of another type", { one: "x", many: { a: 1 }, named: [1] }, []],
  [
    "members with the names of an object's methods",
    { constructor: 1, toString: 1 },
    ["constructor", "toString"],
  ],
])("of %s, what has no effect is named", (_what, body, paths) => {
  expect(ignoredMembersOf(Body, body)).toEqual(paths);
});
