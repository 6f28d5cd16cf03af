import { describe, expect, test } from "vitest";
import { parseScript, requestIn } from "../../../src/agents/demo/script.ts";
import { type TurnInput, turnText } from "../../../src/core/work/turns/turn-text.ts";
import { aRun } from "../../support/run-builders.ts";

describe("parseScript", () => {
  test.each([
    ["sleep 0.5", [{ kind: "sleep", seconds: 0.5 }]],
    ["flood 10", [{ kind: "flood", chunks: 10 }]],
    ["fail", [{ kind: "fail", code: -32603 }]],
    ["Fail 401", [{ kind: "fail", code: 401 }]],
    ["  refuse  ", [{ kind: "refuse" }]],
    ["write a/b.txt some text", [{ kind: "write", file: "a/b.txt", text: "some text" }]],
    ["write notes.txt", [{ kind: "write", file: "notes.txt", text: "" }]],
    ["read README.md", [{ kind: "read", file: "README.md" }]],
    ["say hello there", [{ kind: "say", text: "hello there" }]],
    ["shell a; b then c", [{ kind: "shell", command: "a; b then c" }]],
    ["picture; a picture of it", [{ kind: "picture" }, { kind: "request", text: "a picture of it" }]],
    ["sleep 1; ask then crash", [{ kind: "sleep", seconds: 1 }, { kind: "ask" }, { kind: "crash" }]],
    ["die\nhang", [{ kind: "die" }, { kind: "hang" }]],
    [
      "sleep 1; shell x; y",
      [
        { kind: "sleep", seconds: 1 },
        { kind: "shell", command: "x; y" },
      ],
    ],
    [
      "Fix the bug\nin two places\nsleep 2",
      [
        { kind: "request", text: "Fix the bug\nin two places" },
        { kind: "sleep", seconds: 2 },
      ],
    ],
  ])("a script is read from %j", (prompt, steps) => {
    expect(parseScript(prompt)).toEqual(steps);
  });

  test.each([
    "Please write a test for the parser; it must fail first, then pass.",
    "The tests fail when I sleep badly",
    "read the code then tell me",
    "hang in there",
    "",
  ])("%j is an ordinary request, word for word", (prompt) => {
    expect(parseScript(prompt)).toEqual([{ kind: "request", text: prompt }]);
  });
});

/** The notes as the server writes them, before the request. */
const REQUEST = { run: aRun({ prompt: "say hello", turn: 1 }), followUps: [], again: false };

const NOTES = {
  kind: "attachment",
  path: "attachments/notes.md",
  mimeType: "text/markdown",
  sizeBytes: 7,
} as const;

describe("requestIn", () => {
  test("files without words are the request", () => {
    const prompt = turnText({ ...REQUEST, run: aRun({ prompt: "", turn: 1 }), files: [NOTES] });

    expect(requestIn(prompt)).toBe(prompt);
    expect(prompt).toContain("attachments/notes.md");
  });

  test.each<[string, Partial<TurnInput>]>([
    ["a plain prompt", {}],
    ["an interrupted turn", { again: true }],
    ["files that are missing", { missing: "Files are missing.\nThe run continues (as it was)." }],
    ["an interrupted turn with missing files", { again: true, missing: "Files are missing." }],
    ["a turn with files", { files: [NOTES, { ...NOTES, path: "attachments/b.md" }] }],
  ])("the request of %s is its words alone", (_what, changes) => {
    expect(requestIn(turnText({ ...REQUEST, ...changes }))).toBe("say hello");
  });

  test.each([
    "(a request in parentheses)",
    "(fix) the parser\n\nand (the lexer)",
    "say (x)\n\nsay y",
    "()\n\n ",
  ])("the prompt %j has no notes", (prompt) => {
    expect(requestIn(prompt)).toBe(prompt);
  });
});
