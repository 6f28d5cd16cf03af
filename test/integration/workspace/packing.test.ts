import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, lutimes, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { ArchiveTooLarge, packDirectory, unpackArchive } from "../../../src/workspace/checkpoint-archive.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIMITS = { maxBytes: 2 ** 20, maxUnpackedBytes: 2 ** 20 };

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-packing-"));
});
afterEach(() => rm(root, { recursive: true }));

test("files that vanish while they are packed fail the packing, and nothing but that", async () => {
  const unheard: Error[] = [];
  const hear = (error: Error) => void unheard.push(error);
  process.on("uncaughtException", hear);
  onTestFinished(() => void process.off("uncaughtException", hear));
  const files = join(root, "files");
  await mkdir(files);
  for (let number = 0; number < 20; number += 1) await writeFile(join(files, `${number}.txt`), "x");
  const vanish = (path: string) => {
    if (path !== "files") rmSync(files, { recursive: true, force: true });
    return false;
  };

  await expect(packDirectory(root, ["files"], LIMITS, vanish)).rejects.toThrow("ENOENT");

  // The others are looked for at the same time, and missed a little later.
  for (let looks = 0; looks < 20; looks += 1) await lstat(root);
  expect(unheard).toEqual([]);
});

test("a directory is packed without the files that vanish meanwhile", async () => {
  const workspace = join(root, "workspace");
  await mkdir(join(workspace, "passing"), { recursive: true });
  await writeFile(join(workspace, "kept"), "x");
  for (const name of ["a", "b"]) await writeFile(join(workspace, "passing", name), "x");
  const vanish = (path: string) => {
    if (path === "workspace/passing/a") rmSync(join(workspace, "passing"), { recursive: true });
    return false;
  };

  const archive = await packDirectory(root, ["workspace"], LIMITS, vanish);

  const target = join(root, "target");
  await mkdir(target);
  await unpackArchive(archive, target);
  expect(await readdir(join(target, "workspace"))).toEqual(["kept"]);
});

test.skipIf(process.platform !== "linux")("what is too large to be packed leaves no file open", async () => {
  const openFiles = async () => (await readdir("/proc/self/fd")).length;
  for (let number = 0; number < 20; number += 1) {
    await writeFile(join(root, `${number}.bin`), randomBytes(LIMITS.maxBytes / 8));
  }
  const before = await openFiles();

  const packed = packDirectory(root, ["."], { ...LIMITS, maxUnpackedBytes: 2 ** 30 });

  await expect(packed).rejects.toThrow(ArchiveTooLarge);
  await waitFor(async () => (await openFiles()) <= before, { what: "all files to be closed" });
});

test.each(["1969-12-31T23:59:58.500Z", "2001-01-01T00:00:00.500Z", "2300-01-01T00:00:00.500Z"])(
  "what was last changed at %s is packed",
  async (time) => {
    const workspace = join(root, "workspace");
    await mkdir(join(workspace, "directory"), { recursive: true });
    await writeFile(join(workspace, "file"), "x");
    await symlink("file", join(workspace, "link"));
    const changed = new Date(time);
    for (const name of ["directory", "file", "link"]) await lutimes(join(workspace, name), changed, changed);

    const archive = await packDirectory(root, ["workspace"], LIMITS);

    const target = join(root, "target");
    await mkdir(target);
    await unpackArchive(archive, target);
    const { mtimeMs } = await lstat(join(target, "workspace", "file"));
    expect(mtimeMs).toBe(changed.getTime() - 500);
  },
);
