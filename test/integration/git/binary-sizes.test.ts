import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { binarySizes } from "../../../web/src/run/text/binary-patch.ts";
import { fingerprintOf, parsePatch } from "../../../web/src/run/text/diff.ts";

const run = promisify(execFile);

/** The pages read the sizes of binary files from the patch of a run as git writes it. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-binary-sizes-"));
  await run("git", ["-C", folder, "init", "--quiet"]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function patchOf(before: Buffer | undefined, after: Buffer | undefined): Promise<string> {
  const objects: string[] = [];
  for (const content of [before, after]) {
    await rm(join(folder, "index"), { force: true });
    const git = (...args: string[]) => run("git", ["-C", folder, ...args]);
    await git("read-tree", "--empty");
    if (content !== undefined) {
      await writeFile(join(folder, "file.bin"), content);
      await git("add", "file.bin");
    }
    objects.push((await git("write-tree")).stdout.trim());
  }
  const args = ["-C", folder, "diff-tree", "-r", "-p", "-M", "--binary", "--full-index", ...objects];
  return (await run("git", args)).stdout;
}

async function sizesOf(patch: string) {
  const [file] = parsePatch(patch);
  return file && binarySizes(file.binary);
}

/** Bytes that do not compress, the same in each run. */
function noise(length: number): Buffer {
  let state = 7;
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

const large = noise(300_000);
const edited = Buffer.concat([large.subarray(0, 1_000), Buffer.from([0, 1, 2]), large.subarray(1_000)]);

test.each([
  ["a new file", undefined, noise(70), { before: 0, after: 70 }],
  ["a deleted file", noise(5_000), undefined, { before: 5_000, after: 0 }],
  ["a file with other content", noise(200), Buffer.from([0, 255, 0]), { before: 200, after: 3 }],
  ["a small change of a large file", large, edited, { before: 300_000, after: 300_003 }],
  ["a small change back", edited, large, { before: 300_003, after: 300_000 }],
  ["a file that is cut to a part", large, large.subarray(0, 20_000), { before: 300_000, after: 20_000 }],
])("the sizes of %s are read from the patch", async (_what, before, after, sizes) => {
  expect(await sizesOf(await patchOf(before, after))).toEqual(sizes);
});

test("a patch that was cut, or that holds no content, has no sizes", async () => {
  const patch = await patchOf(large, edited);
  const [head = ""] = patch.split("\ndelta ");

  expect(await sizesOf(head)).toBeUndefined();
  expect(await sizesOf(`${head}\ndelta 10\nz\n`)).toBeUndefined();
  expect(await sizesOf(`${head}\ndelta 10\nFzzzzzzzzzz\n`)).toBeUndefined();
  expect(await sizesOf("diff --git a/x b/x\nBinary files a/x and b/x differ\n")).toBeUndefined();
});

test("another change of a binary file has another fingerprint, so that it is not viewed", async () => {
  const patches = [await patchOf(noise(70), noise(80)), await patchOf(noise(70), noise(81))];
  const prints = patches.flatMap((patch) => parsePatch(patch).map(fingerprintOf));

  expect(new Set(prints).size).toBe(2);
});
