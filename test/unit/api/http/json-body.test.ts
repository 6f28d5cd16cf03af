import { assert, json, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { excessOf } from "../../../../src/api/http/json-body.ts";
import { MEBIBYTE } from "../../../../src/core/basics/byte-units.ts";

function excess(text: string): string | undefined {
  return excessOf(Buffer.from(text));
}

function nested(depth: number): string {
  return `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
}

describe("a JSON text", () => {
  test("a JSON text within the limits is left to the parser", () => {
    assert(
      property(json({ maxDepth: 30 }), (text) => {
        expect(excess(text)).toBeUndefined();
      }),
    );
  });

  test.each([
    ["brackets in texts", JSON.stringify({ prompt: "[".repeat(MEBIBYTE) })],
    ["brackets behind escaped quotes", JSON.stringify({ prompt: '\\"['.repeat(100_000) })],
    ["a text that ends in a backslash", JSON.stringify(["\\", "\\\\", '\\"', "["])],
    ["a prompt of quotes", JSON.stringify({ prompt: '"'.repeat(2 ** 18) })],
    ["the largest attachments", JSON.stringify({ data: "A".repeat(28 * MEBIBYTE) })],
    ["as deep as may be", nested(64)],
    ["many lists beside each other", JSON.stringify(Array.from({ length: 1_000 }, () => [[{}]]))],
    ["an open string", '{"a'],
    ["an open string of quotes", '"\\"\\"'],
    ["no JSON", "]]}}"],
    ["nothing", ""],
  ])("a JSON text passes: %s", (_what, text) => {
    expect(excess(text)).toBeUndefined();
  });

  test.each([
    ["nested one deeper", `[${nested(64)}]`, "nested deeper than 64"],
    ["a mebibyte of [", "[".repeat(MEBIBYTE), "nested deeper"],
    ["deep behind a text that ends in backslashes", `["\\\\",${nested(64)}]`, "nested deeper"],
    ["millions of zeros", `[${"0,".repeat(15 * MEBIBYTE)}0]`, "131072 bytes outside of texts"],
    ["spaces without end", " ".repeat(MEBIBYTE), "outside of texts"],
    ["many small texts", `[${'"",'.repeat(MEBIBYTE)}0]`, "outside of texts"],
    ["millions of escaped quotes", JSON.stringify('"'.repeat(10 * MEBIBYTE)), "600000 quotation marks"],
  ])("a JSON text is refused: %s", (_what, text, reason) => {
    expect(excess(text)).toContain(reason);
  });
});
