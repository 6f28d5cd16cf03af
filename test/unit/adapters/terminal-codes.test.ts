import { expect, test } from "vitest";
import { withoutTerminalCodes } from "../../../src/core/basics/clean-text.ts";
import { processorTime } from "../../support/processor-time.ts";

test.each([
  ["a colour", "\x1b[31mred\x1b[0m", "red"],
  ["a colour of many numbers", "\x1b[38;2;1;2;3mred", "red"],
  ["a link", "\x1b]8;;http://a.example\x07link\x1b]8;;\x07", "link"],
  ["a title", "\x1b]0;title\x1b\\text", "text"],
  ["a command of one character", "\x1bMtext", "text"],
  ["a character set", "\x1b(Btext", "text"],
  ["codes of one byte", "\x9b1mbold\x9b0m\x9d0;title\x9c", "bold"],
])("the terminal code filter removes %s", (_name, text, plain) => {
  expect(withoutTerminalCodes(text)).toBe(plain);
});

test("an unterminated code removes no other text", () => {
  expect(withoutTerminalCodes("before\x1b]0;after")).toBe("before0;after");
});

test.each(["\x1b]", "\x1b[", "\x1b[1;", "\x1b]8;;", "\x1b", "\x1b;?", "\x9d", "\x9b"])(
  "a megabyte of %j is looked through quickly",
  (piece) => {
    const usedMs = processorTime();

    withoutTerminalCodes(piece.repeat(1_000_000 / piece.length));

    expect(usedMs()).toBeLessThan(5_000);
  },
);
