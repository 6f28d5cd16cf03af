import { expect, test } from "vitest";
import { evaluatedPart, outputSchemaProblem } from "../../../../../src/core/model/runs/output-schema.ts";

const deep = (levels: number) =>
  JSON.parse(`${'{"not":'.repeat(levels)}{}${"}".repeat(levels)}`) as Record<string, unknown>;

test.each<[string, Record<string, unknown>]>([
  ["the empty schema", {}],
  ["notes and unknown keywords", { title: "T", default: [], example: { id: 5 }, "x-order": 1 }],
  [
    "the draft and an id",
    { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "https://a.example/s" },
  ],
  ["a reference to itself", { properties: { child: { $ref: "#" } } }],
  ["a reference to a definition", { $ref: "#/$defs/a~1b", $defs: { "a/b": { type: ["string", "null"] } } }],
  ["an encoded reference", { $ref: "#/$defs/a%20b", $defs: { "a b": true } }],
  ["a reference to an anchor", { $ref: "#here", $defs: { a: { $anchor: "here" } } }],
  ["members that are called like keywords", { properties: { $ref: { type: "string" }, id: {}, type: {} } }],
  ["64 levels", deep(64)],
])("%s is a schema for answers", (_what, schema) => {
  expect(outputSchemaProblem(schema)).toBeUndefined();
});

test.each<[string, Record<string, unknown>, string]>([
  ["a remote reference", { $ref: "https://a.example/schema" }, "$ref"],
  ["a reference to a file", { items: { $ref: "other.json" } }, "items.$ref"],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "$ref"],
  ["a reference to what is no schema", { $ref: "#/required", required: [] }, "$ref"],
  ["a dynamic reference", { $dynamicRef: "#a" }, "$dynamicRef"],
  ["an inner id", { properties: { a: { $id: "b" } } }, "properties.a.$id"],
  ["an earlier draft", { $schema: "http://json-schema.org/draft-07/schema#" }, "$schema"],
  ["a type that does not exist", { properties: { a: { type: "text" } } }, "properties.a.type"],
  ["no type at all", { type: [] }, "type"],
  ["a list of items", { items: [{}] }, "items"],
  ["an empty choice", { anyOf: [] }, "anyOf"],
  ["a choice of texts", { oneOf: ["a"] }, "oneOf.0"],
  ["a number as a schema", { properties: { a: 1 } }, "properties.a"],
  ["an invalid expression", { pattern: "(" }, "pattern"],
  ["an invalid expression as a name", { patternProperties: { "[": {} } }, "patternProperties"],
  ["a negative length", { minLength: -1 }, "minLength"],
  ["a required member without a list", { required: "a" }, "required"],
  ["a limit in words", { maximum: "10" }, "maximum"],
  ["65 levels", deep(65), Array(65).fill("not").join(".")],
  ["65 KiB", { description: "é".repeat(33_000) }, ""],
])("%s is refused where it is", (_what, schema, path) => {
  expect(outputSchemaProblem(schema)?.path.join(".")).toBe(path);
});

test("only what a value is checked against is evaluated", () => {
  const schema = {
    title: "T",
    example: { id: "x" },
    properties: { title: { type: "string", description: "d" }, b: false },
    allOf: [{ "x-y": 1, minimum: 2 }],
    const: null,
  };

  expect(evaluatedPart(schema)).toEqual({
    properties: { title: { type: "string" }, b: false },
    allOf: [{ minimum: 2 }],
    const: null,
  });
});
