import { expect, test } from "vitest";
import { makeCommit } from "../../../../../src/adapters/github/commits/make-commit.ts";
import type { CallRepository } from "../../../../../src/adapters/github/routes.ts";
import type { NewCommit, NewFile } from "../../../../../src/core/ports/change-tracker.ts";

const COMMIT: NewCommit = {
  id: "local",
  parents: ["p1", "p2"],
  message: "One\n",
  tree: "t2",
  baseTree: "t1",
  files: [
    { path: "a b/ü.txt", mode: "100644", id: "b1", content: "text\r\n" },
    { path: "run.sh", mode: "100755", id: "b2" },
    { path: "image", mode: "100644", id: "b3", content: Uint8Array.of(0, 255) },
    { path: "link", mode: "120000", id: "b4", content: "to" },
    { path: "sub", mode: "160000", id: "c1" },
    { path: "gone", mode: "100644" },
  ],
};

interface Call {
  readonly route: string;
  readonly parameters: object;
}

/** GitHub, which answers with these trees and this verification. */
function github({ reason = "valid", tree = "t2" } = {}) {
  const calls: Call[] = [];
  const call: CallRepository = async ({ answer, parameters, route }) => {
    calls.push({ route, parameters });
    const sha = route.endsWith("/commits") ? "made" : tree;
    return answer.parse({ sha, verification: { verified: reason === "valid", reason } });
  };
  return { call, calls };
}

test("a commit is made of its parents and files, without an author, so that GitHub signs it", async () => {
  const { call, calls } = github();

  expect(await makeCommit(call, COMMIT)).toBe("made");

  expect(calls).toEqual([
    { route: "POST /repos/{owner}/{repo}/git/blobs", parameters: { content: "AP8=", encoding: "base64" } },
    {
      route: "POST /repos/{owner}/{repo}/git/trees",
      parameters: {
        base_tree: "t1",
        tree: [
          { path: "a b/ü.txt", mode: "100644", type: "blob", content: "text\r\n" },
          { path: "run.sh", mode: "100755", type: "blob", sha: "b2" },
          { path: "image", mode: "100644", type: "blob", sha: "b3" },
          { path: "link", mode: "120000", type: "blob", content: "to" },
          { path: "sub", mode: "160000", type: "commit", sha: "c1" },
          { path: "gone", mode: "100644", type: "blob", sha: null },
        ],
      },
    },
    {
      route: "POST /repos/{owner}/{repo}/git/commits",
      parameters: { message: "One\n", tree: "t2", parents: ["p1", "p2"] },
    },
  ]);
});

test("a commit without changes needs no tree, and a first commit has no tree to begin with", async () => {
  const same = github();
  await makeCommit(same.call, { ...COMMIT, tree: "t1", files: [] });
  expect(same.calls.map(({ route }) => route)).toEqual(["POST /repos/{owner}/{repo}/git/commits"]);

  const first = github();
  const { baseTree: _, ...root } = COMMIT;
  await makeCommit(first.call, { ...root, parents: [], files: COMMIT.files.slice(0, 1) });
  expect(first.calls[0]?.parameters).toEqual({ tree: [expect.objectContaining({ path: "a b/ü.txt" })] });
});

test.each<[string, Parameters<typeof github>[0], readonly NewFile[], RegExp]>([
  ["other files", { tree: "t3" }, COMMIT.files, /other files of the same content/],
  ["no signature", { reason: "unsigned" }, COMMIT.files, /GitHub says: unsigned/],
  ["no such mode", {}, [{ path: "a", mode: "100664", id: "b1" }], /no files of the mode 100664/],
])("GitHub's commit is not used if it has %s", async (_what, answers, files, words) => {
  const making = makeCommit(github(answers).call, { ...COMMIT, files });

  await expect(making).rejects.toMatchObject({
    code: "operation_not_supported",
    message: expect.stringMatching(words),
    retryable: false,
  });
});
