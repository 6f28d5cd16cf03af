import fc from "fast-check";
import { expect, test } from "vitest";

const script = new URL("../../../../src/api/pages/assets/line-diff.js", import.meta.url);
const { lineDiff } = (await import(/* @vite-ignore */ script.href)) as {
  lineDiff(oldText: string | null, newText: string): readonly { sign: string; text: string }[];
};

function shown(oldText: string | null, newText: string): string[] {
  return lineDiff(oldText, newText).map(({ sign, text }) => sign + text);
}

test("all lines of a new file are added, all lines of an emptied file are removed", () => {
  expect(shown(null, "a\nb\n")).toEqual(["+a", "+b"]);
  expect(shown("a\nb\n", "")).toEqual(["-a", "-b"]);
});

test("unchanged lines are kept around changed lines", () => {
  expect(shown("a\nb\nc\nd", "a\nx\nc\ny\nd")).toEqual([" a", "-b", "+x", " c", "+y", " d"]);
});

test("a diff without added lines is the old text, without removed lines the new text", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
      const side = (hidden: string) => diff.filter(({ sign }) => sign !== hidden).map(({ text }) => text);

      expect([side("+"), side("-")]).toEqual([
        before.length > 0 ? before : [""],
        after.length > 0 ? after : [""],
      ]);
    }),
  );
});

test("a large change is shown without comparing lines", () => {
  const [before, after] = [Array(2_000).fill("a").join("\n"), Array(2_000).fill("b").join("\n")];

  expect(shown(before, after)).toHaveLength(4_000);
});
