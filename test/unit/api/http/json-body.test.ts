import { array, assert, constantFrom, json, jsonValue, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { memberTwiceIn, structureOf } from "../../../../src/api/http/json-body.ts";
import { MEBIBYTE } from "../../../../src/core/basics/byte-units.ts";

function excess(text: string): string | undefined {
  return structureOf(Buffer.from(text)).excess;
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

function namesIn(value: unknown): readonly string[] {
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  return entries.flatMap(([name, member]) => [...(Array.isArray(value) ? [] : [name]), ...namesIn(member)]);
}

describe("a member that is there twice", () => {
  const pointer = (text: string) => memberTwiceIn(Buffer.from(text))?.pointer;

  test("the members of a text are counted as the parser counts them, unless one is there twice", () => {
    assert(
      property(json({ maxDepth: 10 }), (text) => {
        expect(structureOf(Buffer.from(text)).members).toBe(namesIn(JSON.parse(text)).length);
        expect(pointer(text)).toBeUndefined();
      }),
    );
  });

  test("it is found at any place, also if its name is written with escapes", () => {
    const places = array(tuple(constantFrom("a", "b/c", "~", "é", ""), jsonValue({ maxDepth: 2 })), {
      maxLength: 4,
    });
    assert(
      property(places, constantFrom("name", '"', "\\", "\u{1f600}"), jsonValue(), (around, name, value) => {
        const escaped = [...name]
          .flatMap((letter) => letter.split(""))
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join("");
        let text = `{${JSON.stringify(name)}: ${JSON.stringify(value)}, "${escaped}" : null}`;
        let expected = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        for (const [key, before] of around) {
          text = `{"first": ${JSON.stringify(before)}, ${JSON.stringify(key)}: [0, "x:,{", ${text}]}`;
          expected = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}/2${expected}`;
        }
        expect(pointer(text)).toBe(expected);
      }),
    );
  });

  test("the same name in different objects is no fault", () => {
    expect(pointer('[{"a":1},{"a":{"a":[{"a":2}]},"b":{"a":3}}]')).toBeUndefined();
  });
});
