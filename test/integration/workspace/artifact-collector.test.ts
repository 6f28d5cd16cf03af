import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import { collectArtifacts } from "../../../src/workspace/artifact-collector.ts";
import { readInside } from "../../../src/workspace/safe-read.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";

let root: string;
let workspace: string;
let blobs: BlobStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-artifacts-"));
  workspace = join(root, "workspace");
  await mkdir(workspace);
  blobs = createInMemoryBlobStore(systemClock);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text = path): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true });
  await writeFile(join(workspace, path), text);
}

function collect(known: ReadonlyMap<string, string> = new Map()) {
  return collectArtifacts(workspace, blobs, known);
}

async function textsOf(files: Awaited<ReturnType<typeof collect>>["files"]): Promise<Record<string, string>> {
  const texts = files.map(async ({ path, blobId }) => [
    path,
    Buffer.from(await blobs.get(blobId)).toString(),
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

test("files in the artifacts directory are stored with path, size and hash, and files elsewhere are not", async () => {
  await put("artifacts/b/report.md", "# hello");
  await put("artifacts/a.txt", "");
  await put("elsewhere.txt");

  const { files, leftOut } = await collect();

  expect(await textsOf(files)).toEqual({ "artifacts/a.txt": "", "artifacts/b/report.md": "# hello" });
  expect(files[1]).toMatchObject({ sizeBytes: 7, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(leftOut).toEqual([]);
});

test("a workspace without an artifacts directory has no artifacts", async () => {
  expect(await collect()).toMatchObject({ files: [], leftOut: [] });
});

test("an unchanged file is not stored again, and a changed one is", async () => {
  await put("artifacts/a.txt", "one");
  await put("artifacts/b.txt", "two");
  const first = await collect();
  const known = new Map(first.files.map(({ path, hash }) => [path, hash]));
  await put("artifacts/b.txt", "three");

  const { files } = await collect(known);

  expect(await textsOf(files)).toEqual({ "artifacts/b.txt": "three" });
});

test("links inside the artifacts directory are not followed", async () => {
  await writeFile(join(root, "secret-key"), "ours");
  await put("artifacts/mine.txt");
  await symlink(join(root, "secret-key"), join(workspace, "artifacts/link.txt"));
  await symlink(root, join(workspace, "artifacts/directory"));

  const { files, leftOut } = await collect();

  expect(files.map(({ path }) => path)).toEqual(["artifacts/mine.txt"]);
  expect(leftOut).toEqual(
    expect.arrayContaining([
      { path: "artifacts/link.txt", reason: "is a link" },
      { path: "artifacts/directory", reason: "is a link" },
    ]),
  );
});

test("an artifacts directory that is a link is not read", async () => {
  await writeFile(join(root, "secret-key"), "ours");
  await symlink(root, join(workspace, "artifacts"));

  expect(await collect()).toMatchObject({
    files: [],
    leftOut: [{ path: "artifacts", reason: "is no directory" }],
  });
});

test("artifacts are collected from a workspace whose own path contains a link", async () => {
  await put("artifacts/a.txt");
  await symlink(workspace, join(root, "other-way"));

  const { files } = await collectArtifacts(join(root, "other-way"), blobs, new Map());

  expect(files).toHaveLength(1);
});

test("the collector does not wait for a named pipe", async () => {
  await mkdir(join(workspace, "artifacts"));
  execFileSync("mkfifo", [join(workspace, "artifacts/pipe")]);

  expect(await collect()).toMatchObject({ leftOut: [{ path: "artifacts/pipe", reason: "is no file" }] });
});

test("files that are too large, nested too deeply or too many for one turn are left out, each with a reason", async () => {
  await put("artifacts/large.bin");
  await truncate(join(workspace, "artifacts/large.bin"), 10 * MEBIBYTE + 1);
  await put(`artifacts/${"d/".repeat(9)}deep.txt`);
  for (let number = 1; number <= 6; number += 1) {
    await put(`artifacts/part-${number}.bin`);
    await truncate(join(workspace, `artifacts/part-${number}.bin`), 9 * MEBIBYTE);
  }

  const { files, leftOut } = await collect();

  expect(files).toHaveLength(5);
  expect(leftOut).toEqual([
    { path: `artifacts/${"d/".repeat(8)}`.replace(/\/$/, ""), reason: "lies too deep" },
    { path: "artifacts/large.bin", reason: "is larger than 10 MiB" },
    { path: "artifacts/part-6.bin", reason: "is too much for one turn" },
  ]);
});

test("a run has at most 100 artifacts, and the existing ones can still change", async () => {
  for (let number = 100; number <= 201; number += 1) {
    await put(`artifacts/${number}.txt`);
  }
  const known = new Map(Array.from({ length: 99 }, (_, index) => [`artifacts/${index + 101}.txt`, "old"]));

  const { files, leftOut } = await collect(known);

  expect(files).toHaveLength(100);
  expect(leftOut).toEqual([
    { path: "artifacts/200.txt", reason: "is one more than 100" },
    { path: "artifacts/201.txt", reason: "is one more than 100" },
  ]);
});

test("control characters in file names are replaced, and of two files with the same resulting name one is left out", async () => {
  await put("artifacts/a\nb.txt", "one");
  await put("artifacts/a\u202eb.txt", "two");

  const { files, leftOut } = await collect();

  expect(files.map(({ path }) => path)).toEqual(["artifacts/a_b.txt"]);
  expect(leftOut).toEqual([{ path: "artifacts/a_b.txt", reason: "has the name of another file" }]);
});

test("hard links inside the workspace are stored like other files", async () => {
  await put("artifacts/a.txt", "one");
  await link(join(workspace, "artifacts/a.txt"), join(workspace, "artifacts/b.txt"));

  expect((await collect()).files).toHaveLength(2);
});

test.skipIf(process.getuid?.() === 0)(
  "a file without read permission is left out of the artifacts",
  async () => {
    await put("artifacts/a.txt");
    await chmod(join(workspace, "artifacts/a.txt"), 0);

    expect(await collect()).toMatchObject({
      leftOut: [{ path: "artifacts/a.txt", reason: "cannot be read" }],
    });
  },
);

test("a file is not read through a directory that was replaced by a link after the listing", async () => {
  await writeFile(join(root, "secret-key"), "ours");
  await mkdir(join(workspace, "artifacts"));
  await symlink(root, join(workspace, "artifacts/directory"));

  const read = readInside(await realpath(workspace), "artifacts/directory/secret-key", MEBIBYTE);

  await expect(read).rejects.toThrow("is reached by a link");
});

test("a file that was replaced by a link after the listing is not read", async () => {
  await writeFile(join(root, "secret-key"), "ours");
  await mkdir(join(workspace, "artifacts"));
  await symlink(join(root, "secret-key"), join(workspace, "artifacts/a.txt"));

  await expect(readInside(await realpath(workspace), "artifacts/a.txt", MEBIBYTE)).rejects.toThrow(
    "is a link",
  );
});
