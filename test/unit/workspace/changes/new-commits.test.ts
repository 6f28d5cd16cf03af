import { expect, test } from "vitest";
import { readNewCommits } from "../../../../src/workspace/changes/new-commits.ts";

const id = (digit: string) => digit.repeat(40);
const NONE = id("0");

interface Listed {
  readonly message?: string | Buffer;
  readonly changes?: readonly (readonly [meta: string, path: string | Buffer])[];
  readonly parents?: readonly string[];
}

/** The output of the script. */
function output(commits: readonly Listed[], blobs: Readonly<Record<string, string | Buffer>> = {}): Buffer {
  const listed = commits.map(({ changes = [], message = "One\n", parents = [id("a")] }) => {
    const words = Buffer.from(message);
    const entries = changes.map(([meta, path]) =>
      Buffer.concat([Buffer.from(`:${meta}\0`), Buffer.from(path), Buffer.from("\0")]),
    );
    const diff = Buffer.concat(entries);
    const line = `${id("c")} ${id("d")} ${id("e")} ${words.length} ${diff.length} ${parents.map((each) => `${each} `).join("")}\n`;
    return Buffer.concat([Buffer.from(line), words, diff]);
  });
  const contents = Object.entries(blobs).map(([name, content]) => {
    const bytes = Buffer.from(content);
    return Buffer.concat([Buffer.from(`${name} blob ${bytes.length}\n`), bytes, Buffer.from("\n")]);
  });
  return Buffer.concat([Buffer.from(`${id("c")} - ${commits.length}\n`), ...listed, ...contents]);
}

test("a commit has the contents that the host does not have: as text, or as bytes", () => {
  const moved = `100644 ${NONE.slice(0, 6)} ${id("1")} ${NONE} D`;
  const commits = readNewCommits(
    output(
      [
        {
          message: "Größe\n\nEnd",
          changes: [
            [`000000 100644 ${NONE} ${id("2")} A`, ":100644 a\nb"],
            [`000000 100755 ${NONE} ${id("3")} A`, "run"],
            [moved, "old"],
            [`000000 100644 ${NONE} ${id("1")} A`, "new"],
            [`160000 160000 ${id("4")} ${id("5")} M`, "sub"],
          ],
        },
      ],
      { [id("1")]: "moved", [id("2")]: "\uFEFFtext\r\n", [id("3")]: Buffer.from([0, 1]) },
    ),
  );

  expect(commits).toEqual({
    head: id("c"),
    commits: [
      {
        ...{ id: id("c"), parents: [id("a")], message: "Größe\n\nEnd", tree: id("d"), baseTree: id("e") },
        files: [
          { path: ":100644 a\nb", mode: "100644", id: id("2"), content: "\uFEFFtext\r\n" },
          { path: "run", mode: "100755", id: id("3"), content: Buffer.from([0, 1]) },
          { path: "old", mode: "100644" },
          { path: "new", mode: "100644", id: id("1") },
          { path: "sub", mode: "160000", id: id("5") },
        ],
      },
    ],
  });
});

test("a merge has all its parents", () => {
  const parents = [id("a"), id("b")];

  expect(readNewCommits(output([{ parents }, {}]))).toMatchObject({ commits: [{ parents, files: [] }, {}] });
});

test.each<[string, Buffer]>([
  ["a message is not UTF-8", output([{ message: Buffer.from([0xff]) }])],
  [
    "a name is not UTF-8",
    output([{ changes: [[`000000 100644 ${NONE} ${id("2")} A`, Buffer.from([0xff])]] }]),
  ],
  ["the program wrote something else", Buffer.from("fatal: no\n")],
  ["it is empty", Buffer.from("")],
])("an output says why nothing can be made of it: %s", (_what, bytes) => {
  expect(readNewCommits(bytes)).toEqual(expect.any(String));
});
