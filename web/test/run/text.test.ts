import { withHiddenShown } from "@errand/client";
import { describe, expect, test } from "vitest";
import { segmentsOf } from "../../src/run/text/ansi.ts";
import {
  countsOf,
  fingerprintOf,
  hunksOf,
  parsePatch,
  rangeOf,
  sideBySide,
} from "../../src/run/text/diff.ts";
import { editsOf } from "../../src/run/text/edits.ts";
import { cutLines, linesOf } from "../../src/run/text/marks.ts";

describe("diffs", () => {
  test.each([
    ["abc", "abd"],
    ["abcabba", "cbabac"],
    ["", "abc"],
    ["abc", ""],
    ["axxxb", "ayb"],
    ["abcdefgh", "hgfedcba"],
  ])("the edits from %j to %j lead from one to the other", (before, after) => {
    const edits = editsOf([...before], [...after]);

    const without = (sign: "+" | "-") =>
      edits
        .filter((edit) => edit.sign !== sign)
        .map(({ text }) => text)
        .join("");
    expect(without("+")).toBe(before);
    expect(without("-")).toBe(after);
  });

  test("two columns have removed lines beside the added lines that replace them, and equal lines in both", () => {
    const [hunk] = hunksOf("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\nfive\n");

    const rows = sideBySide(hunk?.lines ?? []).map(({ before, after }) => [before?.text, after?.text]);

    expect(rows).toEqual([
      ["one", "one"],
      ["two", "2"],
      ["three", "three"],
      ["four", "four"],
      [undefined, "five"],
    ]);
  });

  test("the fingerprint of a change differs when the change, its place or the kind of change differs", () => {
    const patch = (text: string, line = 1) =>
      `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -${line} +${line} @@\n-old\n+${text}\n`;
    const removed =
      "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    const prints = [patch("new"), patch("new"), patch("newer"), patch("new", 2), removed].map((text) => {
      const [file] = parsePatch(text);
      return file && fingerprintOf(file);
    });

    expect(prints[0]).toBe(prints[1]);
    expect(new Set(prints).size).toBe(4);
  });

  test("there are as few edits as possible", () => {
    const edits = editsOf([..."abcabba"], [..."cbabac"]);

    expect(edits.filter(({ sign }) => sign !== " ")).toHaveLength(5);
  });

  test("a change has three lines around it, and distant changes are separate hunks", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    const after = lines.with(9, "changed").toSpliced(30, 0, "inserted");
    const hunks = hunksOf(`${lines.join("\n")}\n`, `${after.join("\n")}\n`);

    expect(hunks.map(rangeOf)).toEqual(["@@ -7,7 +7,7 @@", "@@ -28,6 +28,7 @@"]);
    expect(countsOf(hunks)).toEqual({ added: 2, removed: 1 });
  });

  test("changes that are close to each other are one hunk without repeated lines", () => {
    const hunks = hunksOf("a\nb\nc\nd\ne\nf\n", "A\nb\nc\nd\ne\nF\n");

    expect(hunks.map(({ lines }) => lines.map(({ sign, text }) => sign + text))).toEqual([
      ["-a", "+A", " b", " c", " d", " e", "-f", "+F"],
    ]);
  });

  test("a new file consists of added lines", () => {
    const [hunk] = hunksOf(null, "a\nb\n");

    expect(hunk?.lines).toMatchObject([
      { sign: "+", text: "a", newLine: 1 },
      { sign: "+", newLine: 2 },
    ]);
  });

  test("the words that differ are marked", () => {
    const [hunk] = hunksOf("router.replace(form.next)\n", "router.replace(safeNext(form.next))\n");
    const marked = hunk?.lines.map(({ text, marks }) =>
      marks.map(({ start, end }) => text.slice(start, end)),
    );

    expect(marked).toEqual([[], ["safeNext(", ")"]]);
  });

  test("a changed line is compared with the added line that is most like it", () => {
    const [hunk] = hunksOf(
      "setSession(session)\n",
      "// Store it first, then leave.\nawait setSession(session)\n",
    );
    const marked = hunk?.lines.map(({ text, marks }) =>
      marks.map(({ start, end }) => text.slice(start, end)),
    );

    expect(marked).toEqual([[], [], ["await "]]);
  });

  test("a patch of git is read with its files, numbers and headings", () => {
    const files = parsePatch(
      [
        "diff --git a/src/a.ts b/src/a.ts",
        "index 1..2 100644",
        "--- a/src/a.ts",
        "+++ b/src/a.ts",
        "@@ -38,2 +38,3 @@ export function a()",
        " one",
        "-two",
        "+TWO",
        "+three",
        "\\ No newline at end of file",
        "diff --git a/old name.png b/new name.png",
        "similarity index 90%",
        "rename from old name.png",
        "rename to new name.png",
        "Binary files a/old name.png and b/new name.png differ",
        "diff --git a/gone.txt b/gone.txt",
        "deleted file mode 100644",
        "--- a/gone.txt",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "--- a line that begins with two dashes",
        "",
      ].join("\n"),
    );

    expect(files).toMatchObject([
      { path: "src/a.ts", status: "modified", hunks: [{ heading: "export function a()" }] },
      { path: "new name.png", oldPath: "old name.png", status: "renamed", isBinary: true },
      {
        path: "gone.txt",
        status: "deleted",
        hunks: [{ lines: [{ text: "-- a line that begins with two dashes" }] }],
      },
    ]);
    expect(files[0]?.hunks[0]?.lines).toMatchObject([
      { sign: " ", oldLine: 38, newLine: 38 },
      { sign: "-", oldLine: 39 },
      { sign: "+", newLine: 39 },
      { sign: "+", newLine: 40 },
    ]);
  });
});

describe("terminal output", () => {
  test("colours become classes, and colours without a name become a style", () => {
    expect(segmentsOf("\x1b[1;31mFAIL\x1b[0m a \x1b[38;2;1;2;3mrgb\x1b[0m")).toEqual([
      { text: "FAIL", className: "ansi-red-fg ansi-bold", style: undefined },
      { text: " a ", className: "", style: undefined },
      { text: "rgb", className: "", style: { color: "rgb(1,2,3)" } },
    ]);
  });

  test("HTML stays text, and links of terminals are only their text", () => {
    const text = segmentsOf('<img src=x onerror="a()"> & \x1b]8;;javascript:a()\x1b\\click\x1b]8;;\x1b\\')
      .map((segment) => segment.text)
      .join("");

    expect(text).toContain('<img src=x onerror="a()"> & ');
    expect(text).not.toContain("javascript");
  });

  test("only the last state of a line that is written again remains", () => {
    const text = segmentsOf("10 %\r50 %\r100 %\r\nDone\x07\n")
      .map((segment) => segment.text)
      .join("");

    expect(text).toBe("100 %\nDone\n");
  });
});

describe("marks", () => {
  test("characters that reverse a text are shown", () => {
    expect(withHiddenShown("a\u202eb\u2066c")).toBe("a⟨U+202E⟩b⟨U+2066⟩c");
  });

  test("a huge line is cut", () => {
    expect(cutLines(`a\n${"x".repeat(5_000)}\nb`)).toBe(`a\n${"x".repeat(4_000)}… (1000 more characters)\nb`);
  });

  test("the lines of a text end with the last one that is not empty", () => {
    expect(linesOf("\na\n\nb\n\n")).toEqual(["", "a", "", "b"]);
  });
});

test("output of a hundred thousand line breaks or returns is read in linear time", () => {
  const started = performance.now();

  expect(linesOf(`${"\n".repeat(100_000)}x`)).toHaveLength(100_001);
  expect(segmentsOf(`${"\r".repeat(100_000)}x`)).toMatchObject([{ text: "x" }]);
  expect(performance.now() - started).toBeLessThan(5_000);
});
