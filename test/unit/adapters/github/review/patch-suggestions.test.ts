import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Suggestion,
  suggestionsOf,
} from "../../../../../src/adapters/github/review/patch-suggestions.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-suggestions-"));
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The patch between two versions of a file, by git. */
async function patchOf(
  before: readonly string[],
  after: readonly string[],
  path = "a b.ts",
): Promise<string> {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" });
  await writeFile(join(folder, path), before.map((line) => `${line}\n`).join(""));
  git("add", "--all");
  await writeFile(join(folder, path), after.map((line) => `${line}\n`).join(""));
  return git("diff", "--no-color");
}

/** What the file is once a person has committed all suggestions. */
function committed(lines: readonly string[], suggestions: readonly Suggestion[]): readonly string[] {
  const result = [...lines];
  for (const { line, startLine, text } of suggestions.toReversed()) {
    result.splice(startLine - 1, line - startLine + 1, ...(text === "" ? [] : text.split("\n")));
  }
  return result;
}

/** The same numbers in each run. */
function numbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * max);
  };
}

test("suggestions that are committed make the same file as the patch, for changes of all kinds", async () => {
  let suggested = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = numbers(seed * 7_919);
    const before = Array.from({ length: 12 + random(30) }, (_, index) => `line ${index} ${random(3)}`);
    const after = before.flatMap((line) => {
      const kind = random(10);
      return kind === 0 ? [] : kind === 1 ? [`${line}!`] : kind === 2 ? [line, `more ${random(9)}`] : [line];
    });
    const patch = await patchOf(before, after);
    const suggestions = suggestionsOf(patch);
    if (suggestions !== undefined) {
      suggested += 1;
      expect(committed(before, suggestions), patch).toEqual(after);
    }
  }
  expect(suggested).toBeGreaterThan(45);
});

test.each([
  ["a replaced line", ["a", "b", "c"], ["a", "B", "c"], [{ startLine: 2, line: 2, text: "B" }]],
  ["deleted lines", ["a", "b", "c", "d"], ["a", "d"], [{ startLine: 2, line: 3, text: "" }]],
  ["a new line after another", ["a", "b"], ["a", "x", "b"], [{ startLine: 1, line: 1, text: "a\nx" }]],
  ["a new first line", ["a", "b"], ["x", "a", "b"], [{ startLine: 1, line: 1, text: "x\na" }]],
  ["a new last line", ["a", "b"], ["a", "b", "x"], [{ startLine: 2, line: 2, text: "b\nx" }]],
  [
    "a line that looks like a header",
    ["a", "-- b"],
    ["a", "++ c"],
    [{ startLine: 2, line: 2, text: "++ c" }],
  ],
] as const)("%s is a suggestion", async (_what, before, after, expected) => {
  const suggestions = suggestionsOf(await patchOf(before, after));

  expect(suggestions).toEqual(expected.map((each) => ({ path: "a b.ts", ...each })));
});

describe("what no suggestion can do", () => {
  const HEAD = "diff --git a/x b/x\n";
  test.each([
    ["nothing", ""],
    ["a new file", `${HEAD}new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n`],
    ["a deleted file", `${HEAD}deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`],
    ["a mode", `${HEAD}old mode 100644\nnew mode 100755\n`],
    [
      "a renamed file",
      `${HEAD}similarity index 90%\nrename from y\nrename to x\n--- a/y\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`,
    ],
    ["a binary file", `${HEAD}index 1..2 100644\nBinary files a/x and b/x differ\n`],
    ["the end of a file", `${HEAD}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n`],
    ["a quoted name", `${HEAD}--- "a/\\303\\244"\n+++ "b/\\303\\244"\n@@ -1 +1 @@\n-a\n+b\n`],
  ])("%s", (_what, patch) => {
    expect(suggestionsOf(patch)).toBeUndefined();
  });

  test("one part that is none makes the whole a patch", async () => {
    const patch = await patchOf(["a"], ["b"]);

    expect(suggestionsOf(patch)).toHaveLength(1);
    expect(suggestionsOf(`${patch}${HEAD}old mode 100644\nnew mode 100755\n`)).toBeUndefined();
  });

  test.each([
    [
      ["a", "b"],
      ["a", ""],
    ],
    [
      ["a", "b"],
      ["a", "b", ""],
    ],
    [
      ["a", "b", "c"],
      ["a", "x", "", "c"],
    ],
    [
      ["", "b"],
      ["x", "", "b"],
    ],
  ])("an empty last line: %j to %j", async (before, after) => {
    expect(suggestionsOf(await patchOf(before, after))).toBeUndefined();
  });

  test("more than fifty parts", async () => {
    const before = Array.from({ length: 400 }, (_, index) => `line ${index}`);
    const after = before.map((line, index) => (index % 7 === 0 ? `${line}!` : line));

    expect(suggestionsOf(await patchOf(before, after))).toBeUndefined();
  });
});
