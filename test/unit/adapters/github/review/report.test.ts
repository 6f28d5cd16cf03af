import { expect, test } from "vitest";
import { readReviewReport } from "../../../../../src/adapters/github/review/report.ts";

const COMMIT = "a".repeat(40);

function answer(report: unknown, before = "All in all fine.", after = ""): string {
  const json = typeof report === "string" ? report : JSON.stringify(report, undefined, 2);
  return `${before}\n\n\`\`\`errand-review\n${json}\n\`\`\`\n${after}`;
}

test("findings are read from the last block of the answer, and the rest is the summary", () => {
  const finding = {
    ...{ id: "Unbounded cache!", path: "src/a.ts", line: 12, start_line: 10, title: "It grows" },
    ...{ body: "For ever.", suggestion: "const max = 1;\n```" },
  };

  const report = readReviewReport(answer({ commit: COMMIT, findings: [finding] }, undefined, "Bye."));

  expect(report).toEqual({
    summary: "All in all fine.\n\n\nBye.",
    commit: COMMIT,
    findings: [
      {
        ...{ id: "unbounded-cache", path: "src/a.ts", line: 12, startLine: 10, title: "It grows" },
        ...{ body: "For ever.", suggestion: "const max = 1;\n```" },
      },
    ],
  });
});

test("only the path and the title are needed, and a null is as good as nothing", () => {
  const report = readReviewReport(
    answer({ commit: "HEAD", findings: [{ path: "a", title: "No tests", line: null, suggestion: null }] }),
  );

  expect(report).toEqual({
    summary: "All in all fine.",
    findings: [{ id: "no-tests", path: "a", title: "No tests", body: "" }],
  });
});

test.each([
  [
    { line: 3, start_line: 9 },
    { line: 9, startLine: 3 },
  ],
  [{ line: 3, start_line: 3 }, { line: 3 }],
  [{ start_line: 3 }, { line: 3 }],
])(
  "the range %j is read from its first to its last line, because a suggestion replaces all of it",
  (lines, read) => {
    const report = readReviewReport(answer({ findings: [{ path: "a", title: "t", ...lines }] }));

    expect(report?.findings).toEqual([{ id: "t", path: "a", title: "t", body: "", ...read }]);
  },
);

test("findings whose names have no Latin letters, or differ late, stay apart and keep their ids", () => {
  const titles = [
    "缺少空值检查",
    "循环没有终止",
    "Größe",
    "Grüße",
    `${"x".repeat(90)} a`,
    `${"x".repeat(90)} b`,
  ];
  const ids = (findings: readonly object[]) =>
    readReviewReport(answer({ findings }))?.findings.map(({ id }) => id) ?? [];

  const first = ids(titles.map((title) => ({ path: "a", title })));

  expect(new Set(first).size).toBe(titles.length);
  expect(first.every((id) => /^[a-z\d-]+$/.test(id))).toBe(true);
  expect(ids(first.map((id) => ({ id, path: "a", title: "t" })))).toEqual(first);
});

test("what of the list cannot be read stands in the summary", () => {
  const report = readReviewReport(
    answer({ findings: [{ file: "src/b.ts", title: "Broken" }, "Also broken"] }),
  );

  expect(report?.findings).toEqual([]);
  expect(report?.summary).toMatch(/^All in all fine\.\n\nFindings in another form/);
  expect(report?.summary).toContain("src/b.ts");
  expect(report?.summary).toContain("Also broken");
});

test("one finding that is listed twice counts once, and after a hundred the rest is in the summary", () => {
  const twice = Array.from({ length: 2 }, () => ({ path: "a", title: "t" }));
  const many = Array.from({ length: 130 }, (_, index) => ({ path: "a", title: `t${index}` }));

  expect(readReviewReport(answer({ findings: twice }))?.findings).toHaveLength(1);
  const report = readReviewReport(answer({ findings: many }));
  expect(report?.findings).toHaveLength(100);
  expect(report?.summary).toContain("t129");
});

test.each([
  ["no block", "All fine."],
  ["a block that is no JSON", answer("{")],
  ["a block without a list", answer({ findings: "none" })],
  ["an open block", '```errand-review\n{"findings": []}'],
  ["another block", '```json\n{"findings": []}\n```'],
])("an answer with %s is only a summary", (_what, text) => {
  expect(readReviewReport(text)).toBeUndefined();
});
