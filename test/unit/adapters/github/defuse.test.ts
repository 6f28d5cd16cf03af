import fc from "fast-check";
import { expect, test } from "vitest";
import { defuse, defuseLine, exactCode } from "../../../../src/adapters/github/defuse.ts";

const PIECES = [
  "@alice",
  "@acme/team",
  "![a](http://e/x)",
  "![a][r]",
  "!",
  "[",
  "](",
  ")",
  "<img src=http://e/x>",
  "<!-- errand:message-key=card:1 -->",
  "errand:",
  "message-key=",
  "&#64;",
  "&commat;",
  "`",
  "``",
  "```",
  "~~~",
  "```mermaid\n",
  "\n",
  "\n\n",
  " ",
  "| a | b |",
  "> ",
  "- ",
  "    ",
  "\\",
  "text",
  "\u001B[31m",
  "\u200B",
  "\u{1F600}",
  "https://e.org/@x",
];
const hostileText = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(""));

/** The text that GitHub cannot take for code: a fence of this module begins a line and follows an empty one. */
function outsideFences(markdown: string): string {
  let marks: string | undefined;
  const lines = markdown.split("\n").map((line) => {
    if (marks !== undefined) {
      if (line === marks) {
        marks = undefined;
      }
      return "";
    }
    marks = /^(`{3,})[\w+#.-]*$/.exec(line)?.[1];
    return marks === undefined ? line : "";
  });
  if (marks !== undefined) {
    throw new Error("A fence is open at the end");
  }
  return lines.join("\n");
}

test("no input breaks out of its code, and every fence is closed", () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 0, max: 200 }), (text, limit) => {
      const { markdown } = defuse(text, limit);

      expect(markdown.length).toBeLessThanOrEqual(limit);
      expect(markdown).not.toMatch(/errand:(message-key|delivery)/i);
      const outside = outsideFences(markdown);
      expect(outside).not.toMatch(/@[\p{L}\p{N}_]/u);
      expect(outside).not.toMatch(/!\[/);
      expect(outside.replace(/<\/?code>/g, "")).not.toContain("<");
      expect(outside.match(/<code>/g)?.length).toBe(outside.match(/<\/code>/g)?.length);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is the claim
      expect(markdown).not.toMatch(/[\u0000-\u0008\u001B\u200B]/);
      expect(markdown.isWellFormed()).toBe(true);
    }),
    {
      numRuns: 3_000,
      examples: [
        ["````[```mermaid\n", 3],
        [`~~~\n${"`".repeat(500)}\n~~~`, 200],
        ["```    ``@alice``", 9],
      ],
    },
  );
});

test("a defused line has no markup", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const line = defuseLine(text);

      expect(line).not.toMatch(/@[\p{L}\p{N}_]|(?<!\\)!|(?<!\\)`|</u);
    }),
  );
});

test.each([
  "a",
  "`",
  "``` ",
  "![",
  "![a](",
  "<",
  "@a ",
  "&#64;",
  "errand:message-key=",
  "\u001B[",
  "` ``",
  "[",
  "!",
  "\n",
])("a megabyte of %j is cut", (piece) => {
  const { markdown, isCut } = defuse(`x${piece.repeat(1_000_000 / piece.length)}x`, 65_000);

  expect(markdown.length).toBeLessThanOrEqual(65_000);
  expect(isCut).toBe(true);
});

test("a text of growing runs of backticks is scanned within the time limit of a test", () => {
  const runs = Array.from({ length: 500 }, (_, index) => `${"`".repeat(index + 1)} `).join("");

  expect(defuse(runs, 65_000).isCut).toBe(true);
});

test("a fence that is cut is closed, and a text that fits is whole", () => {
  const code = `\`\`\`ts\n${"const a = 1;\n".repeat(50)}\`\`\`\nThe end.`;

  const { markdown, isCut } = defuse(code, 200);

  expect(isCut).toBe(true);
  expect(markdown).toMatch(/^```ts\n(const a = 1;\n)+```$/);
  expect(defuse(code, 2_000)).toEqual({ markdown: code.replace("\nThe", "\n\nThe"), isCut: false });
});

test("exact code is in a fence that none of its lines can close", () => {
  expect(exactCode(" ```\n+@alice <b>\n", "diff", 100)).toBe("````diff\n ```\n+@alice <b>\n````");
});

test.each([
  ["an invisible character", "+a\u200Bb\n"],
  ["a carriage return", "+a\r\n"],
  ["a marker of the bot", "+<!-- errand:delivery=1 -->\n"],
  ["a text that is too long", "+".repeat(101)],
  ["a fence that is too long", "`".repeat(60)],
])("%s is not shown as exact code", (_what, text) => {
  expect(exactCode(text, "diff", 100)).toBeUndefined();
});
