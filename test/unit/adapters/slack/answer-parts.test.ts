import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outdent } from "../../../../src/adapters/markdown-lines.ts";
import { answerParts, withFewerElements } from "../../../../src/adapters/slack/answer-parts.ts";
import { slackLimitError } from "../../../support/slack/slack-limits.ts";

const FILLER = "words ".repeat(12).trim();

/** The lines of a block in which each word `<kind>#` gets a number of its own. */
type Block = readonly string[];

const lines = (count: number, line: string): string[] =>
  Array.from({ length: count }, () => `${line} ${FILLER}`);

/** Blocks as agents write them. `p` is text, `q` a quote, `c` code, `t` a row of a table and `h` its heading. */
const BLOCKS: Readonly<Record<string, (count: number) => Block>> = {
  paragraph: (count) => lines(count, "p#"),
  heading: () => ["## p#"],
  list: (count) => [...lines(count, "- p#"), ...lines(count, "  - p#"), ...lines(1, "7. p#")],
  code: (count) => ["```ts", ...lines(count, "c#"), "", ...lines(count, "  c#"), "```"],
  "code in a list": (count) => ["- p#", "", "  ```ts", ...lines(count, "  c#"), "  ```", ...lines(1, "  p#")],
  "code that begins an item": (count) => ["10. ```sh", ...lines(count, "    c#"), "    ```"],
  "code in a nested list": (count) => [
    "- p#",
    "  - p#",
    "    - p#",
    "      ~~~~",
    ...lines(count, "      c#"),
    "      ```",
    ...lines(count, "      c#"),
    "      ~~~~",
    ...lines(1, "    - p#"),
    ...lines(1, "- p#"),
  ],
  quote: (count) => lines(count, "> q#"),
  "code in a quote": (count) => ["> q#", "> ```", ...lines(count, "> c#"), "> ```", ...lines(1, "> q#")],
  "code in a list in a quote": (count) => [
    "> - q#",
    ">   - q#",
    ">     ```",
    ...lines(count, ">     c#"),
    ">     ```",
  ],
  "code in a quote that ends": (count) => ["> ```", ...lines(count, "> c#"), "", ...lines(1, "p#")],
  table: (count) => [`| h# | ${FILLER} |`, "|---|:-:|", ...lines(count, "| t# |").map((line) => `${line} |`)],
};

function numbered(blocks: readonly Block[]): string {
  let number = 0;
  return blocks
    .map((block) => block.join("\n"))
    .join("\n\n")
    .replaceAll("#", (mark, at: number, whole: string) => {
      const isWord = /[pqcth]/.test(whole[at - 1] ?? "");
      number += isWord ? 1 : 0;
      return isWord ? `${number}` : mark;
    });
}

const WORD = /\b[pqcth]\d+\b/g;

/** What is wrong with one part, read without the code under test. */
function problemsOf(part: string): string[] {
  const problems: string[] = [];
  let marks: string | undefined;
  let isQuoted = false;
  let offset = 0;
  let rows = 0;
  for (const line of part.split("\n")) {
    const [, quotes = "", rest = ""] = /^((?:[ ]*> ?)*)(.*)$/.exec(line) ?? [];
    const [, blanks = "", item = "", words = ""] = /^( *)((?:(?:[-*+]|\d+[.)]) +)*)(.*)$/.exec(rest) ?? [];
    const [ticks] = /^(?:`{3,}|~{3,})/.exec(words) ?? [];
    marks = isQuoted && quotes === "" ? undefined : marks;
    isQuoted = marks !== undefined && isQuoted;
    const isCode = marks !== undefined || ticks !== undefined;
    if (!isCode && item !== "") {
      offset = blanks.length + item.length;
    }
    if (!isCode && words !== "" && blanks.length < offset && item === "") {
      offset = 0;
    }
    if (marks === undefined && item === "" && blanks.length > offset + 3) {
      problems.push(`indented as code: ${line.slice(0, 40)}`);
    }
    const isMark = ticks !== undefined && (marks === undefined || (words === marks && ticks === marks));
    for (const word of words.match(WORD) ?? []) {
      const isInCode = marks !== undefined;
      if (word.startsWith("c") !== isInCode) {
        problems.push(`${word} is ${isInCode ? "" : "not "}code`);
      }
      if (word.startsWith("q") && quotes === "") {
        problems.push(`${word} left its quote`);
      }
      if (word.startsWith("t") && rows < 2) {
        problems.push(`${word} has no heading`);
      }
    }
    if (isMark) {
      marks = marks === undefined ? ticks : undefined;
      isQuoted = marks !== undefined && quotes !== "";
    }
    rows = words.startsWith("|") ? rows + 1 : 0;
  }
  return marks === undefined || isQuoted ? problems : [...problems, "a block of code is open"];
}

function wordsOf(text: string): string[] {
  return [...new Set(text.match(WORD) ?? [])];
}

describe("the parts of a long answer", () => {
  test.each(Object.keys(BLOCKS))("a long %s stays what it is", (name) => {
    const block = BLOCKS[name] ?? expect.fail();
    const text = numbered([...["paragraph", "list"].map((kind) => BLOCKS[kind]?.(3) ?? []), block(170)]);

    const { isCut, parts } = answerParts(text, 60);

    expect(parts.flatMap(problemsOf)).toEqual([]);
    expect(isCut).toBe(false);
    expect(wordsOf(parts.join("\n"))).toEqual(wordsOf(text));
  });

  test("every part is well formed, and nothing is lost", () => {
    const block = fc
      .tuple(fc.constantFrom(...Object.values(BLOCKS)), fc.integer({ min: 1, max: 30 }))
      .map(([make, count]) => make(count));

    fc.assert(
      fc.property(fc.array(block, { minLength: 10, maxLength: 25 }), (blocks) => {
        const text = numbered(blocks);
        const { isCut, parts } = answerParts(text, 60);
        const seen = wordsOf(parts.join("\n"));

        expect(parts.flatMap(problemsOf)).toEqual([]);
        expect(wordsOf(text).slice(0, seen.length)).toEqual(seen);
        expect(isCut || seen.length === wordsOf(text).length).toBe(true);
        expect(parts.every((part) => part.length <= 11_000)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("text that cannot be cut at a line keeps its marks", () => {
    const cases = ["> q1 ", "```\nc1 ", "- ```\n  c1 ", "| h1 |\n|---|\n| t1 "].map((start) => {
      const { parts } = answerParts(`${start}${"long ".repeat(4_000)}`, 0);
      return parts.map((part) => part.slice(0, 8));
    });

    expect(cases[0]).toEqual(["> q1 lon", "> long l"]);
    expect(cases[1]).toEqual(["```\nc1 l", "```\n lon"]);
    expect(cases[2]?.[1]).toBe("```\nlong");
    expect(cases[3]?.[1]).toBe("long lon");
  });

  test.each([
    ["markers of lists", "- ".repeat(20_000)],
    ["quotes", ">".repeat(40_000)],
    ["blanks", `${" ".repeat(40_000)}x`],
    ["tables", "|-".repeat(20_000)],
    ["short fences", "```\n".repeat(10_000)],
    ["headings", "# x\n".repeat(10_000)],
    ["deep lists", Array.from({ length: 280 }, (_, depth) => `${" ".repeat(depth)}- x`).join("\n")],
  ])("a text of nothing but %s is split as well", (_what, text) => {
    const { parts } = answerParts(text, 60);

    expect(parts.length).toBeLessThanOrEqual(4);
    expect(parts.every((part) => part.length <= 11_000)).toBe(true);
  });
});

describe("the blocks that Slack makes of an answer", () => {
  const section = (index: number) =>
    `## Title ${index}\n\nSome words.\n\n| a | b |\n|---|---|\n| ${index} | x |\n\n---\n\n- one\n- two`;

  test("an answer of many headings and tables is split before Slack would make too many blocks", () => {
    const text = Array.from({ length: 25 }, (_, index) => section(index)).join("\n\n");

    const { isCut, parts } = answerParts(text, 60);

    expect(isCut).toBe(false);
    expect(parts).toHaveLength(4);
    for (const part of parts) {
      expect(slackLimitError("chat.postMessage", "", [{ type: "markdown", text: part }])).toBeUndefined();
    }
    expect(parts.join("\n").match(/^## Title/gm)).toHaveLength(25);
  });

  test("an answer of too many for all of its messages has bold lines and tables as code", () => {
    const text = Array.from({ length: 200 }, (_, index) => section(index)).join("\n\n");

    const { isCut, parts } = answerParts(text, 60);

    expect(isCut).toBe(false);
    expect(parts.join("\n").match(/^\*\*Title \d+\*\*$/gm)).toHaveLength(200);
    expect(parts.flatMap(problemsOf)).toEqual([]);
  });

  test("the same words with fewer elements stay in their places", () => {
    const text =
      "# One **bold**\ntext\n\nTwo\n===\n- # Three\n\n| a |\n|---|\n| 1 |\n\n***\n```md\n# not a title\n```";

    expect(withFewerElements(text)).toBe(
      "One **bold**\n\ntext\n\nTwo\n\n- **Three**\n\n\n```\n| a |\n|---|\n| 1 |\n```\n\n\n```md\n# not a title\n```",
    );
  });
});

test("what stood in a list moves to the margin until a line does not", () => {
  expect(outdent("    - a\n\n      b\n  - c\n- d\n    e")).toBe("- a\n\n  b\n- c\n- d\n    e");
  expect(outdent("  > - a\n  >   b\n\nc")).toBe("> - a\n>   b\n\nc");
});
