import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import {
  chmod,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ArchiveTooLarge, packDirectory } from "../../../src/workspace/pack-directory.ts";
import { TooLargeFiles } from "../../../src/workspace/too-large-files.ts";
import { unpackArchive } from "../../../src/workspace/unpack-archive.ts";
import { asUnprivileged } from "../../support/unprivileged.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIMITS = { maxBytes: 2 ** 20, maxUnpackedBytes: 2 ** 20 };

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-packing-"));
});
afterEach(() => rm(root, { recursive: true }));

test("packing a directory skips files that vanish meanwhile and raises no uncaught error", async () => {
  const uncaught: Error[] = [];
  const onUncaught = (error: Error) => void uncaught.push(error);
  process.on("uncaughtException", onUncaught);
  onTestFinished(() => void process.off("uncaughtException", onUncaught));
  const workspace = join(root, "workspace");
  await mkdir(join(workspace, "passing"), { recursive: true });
  await writeFile(join(workspace, "kept"), "x");
  for (let number = 0; number < 20; number += 1) {
    await writeFile(join(workspace, `passing/${number}`), "x");
  }
  const vanish = (path: string) => {
    if (path.startsWith("workspace/passing/")) {
      rmSync(join(workspace, "passing"), { recursive: true, force: true });
    }
    return false;
  };

  const archive = await packDirectory(root, ["workspace"], LIMITS, { isLeftOut: vanish });

  const unpacked = await unpack(archive);
  expect((await readdir(join(unpacked, "workspace"))).toSorted()).toEqual(["kept", "passing"]);
  expect((await readdir(join(unpacked, "workspace/passing"))).length).toBeLessThan(2);
  expect(uncaught).toEqual([]);
});

describe("what was too large", () => {
  const tooLarge = new TooLargeFiles();
  const limits = { maxBytes: 200_000, maxUnpackedBytes: 2 ** 20 };
  /** Resolves with the entries that were looked at until the archive was too large, or with undefined. */
  async function pack(isLeftOut = (_path: string) => false): Promise<readonly string[] | undefined> {
    const looked: string[] = [];
    const onEntry = (path: string) => void looked.push(path);
    const packing = packDirectory(root, ["workspace"], limits, { isLeftOut, onEntry, tooLarge });
    const error = await packing.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect([undefined, expect.any(ArchiveTooLarge)]).toContainEqual(error);
    return error === undefined ? undefined : looked;
  }

  beforeEach(async () => {
    await mkdir(join(root, "workspace/inner"), { recursive: true });
    for (const name of ["1", "2", "inner/3", "inner/4"]) {
      await writeFile(join(root, "workspace", name), randomBytes(60_000));
    }
  });

  test("is not packed again while it is unchanged, although a small file of it has changed", async () => {
    await writeFile(join(root, "workspace/small"), "one");
    expect(await pack()).not.toEqual([]);

    await writeFile(join(root, "workspace/small"), "two");
    await writeFile(join(root, "workspace/inner/new"), "new");

    expect(await pack()).toEqual([]);
  });

  test("is packed again when a file of it has changed, is gone or is left out", async () => {
    expect(await pack()).not.toEqual([]);
    expect(await pack((path) => path === "workspace/inner")).toBeUndefined();

    await writeFile(join(root, "workspace/1"), randomBytes(60_000));
    expect(await pack()).not.toEqual([]);
    await rm(join(root, "workspace/inner/4"));

    expect(await pack()).toBeUndefined();
  });

  test("is remembered for files that compress well, too", async () => {
    await writeFile(join(root, "workspace/0"), new Uint8Array(2 ** 20));
    expect(await pack((path) => path === "workspace/inner")).not.toEqual([]);

    expect(await pack((path) => path === "workspace/inner")).toEqual([]);
  });
});

test("packing fails if a requested member does not exist", async () => {
  await expect(packDirectory(root, ["workspace"], LIMITS)).rejects.toThrow(
    "There is no workspace to be packed.",
  );
});

test("a file that shrinks while it is packed is padded with zeros", async () => {
  const file = join(root, "file");
  await writeFile(file, "long words");
  const shorten = () => {
    writeFileSync(file, "long");
    return false;
  };

  const unpacked = await unpack(await packDirectory(root, ["file"], LIMITS, { isLeftOut: shorten }));

  expect(await readFile(join(unpacked, "file"), "utf8")).toBe("long\0\0\0\0\0\0");
});

test("hard links, symbolic links, modes and long paths are preserved", async () => {
  const deep = join("workspace", "d".repeat(120), "e".repeat(120));
  await mkdir(join(root, deep), { recursive: true });
  await writeFile(join(root, deep, "one"), "x".repeat(3 * 2 ** 20), { mode: 0o750 });
  await link(join(root, deep, "one"), join(root, "workspace", "two"));
  await symlink("/nowhere/at/all", join(root, "workspace", "out"));

  const limits = { ...LIMITS, maxUnpackedBytes: 4 * 2 ** 20 };
  const unpacked = await unpack(await packDirectory(root, ["workspace"], limits));

  const [one, two] = await Promise.all(
    [join(deep, "one"), "workspace/two"].map((path) => lstat(join(unpacked, path))),
  );
  expect([one?.ino, one?.size, (one?.mode ?? 0) & 0o777]).toEqual([two?.ino, 3 * 2 ** 20, 0o750]);
  expect(await readlink(join(unpacked, "workspace", "out"))).toBe("/nowhere/at/all");
});

test.skipIf(process.platform !== "linux")("a file whose name is not valid UTF-8 is left out", async () => {
  await mkdir(join(root, "workspace"));
  await writeFile(Buffer.concat([Buffer.from(join(root, "workspace/")), Buffer.from([0xff])]), "x");
  await writeFile(join(root, "workspace/kept"), "x");

  const unpacked = await unpack(await packDirectory(root, ["workspace"], LIMITS));

  expect(await readdir(join(unpacked, "workspace"))).toEqual(["kept"]);
});

test("files that cannot be read are left out of an archive and named, and pipes and sockets are only left out", async () => {
  const workspace = join(root, "workspace");
  await mkdir(join(workspace, "closed"), { recursive: true });
  await writeFile(join(workspace, "kept"), "x");
  await writeFile(join(workspace, "closed/file"), "x");
  await writeFile(join(workspace, "locked"), "x");
  await symlink("nowhere", join(workspace, "dangling"));
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  const server = createServer().listen(join(workspace, "socket"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  await chmod(join(workspace, "closed"), 0);
  await chmod(join(workspace, "locked"), 0);
  await chmod(root, 0o755);
  const leftOut: [string, string][] = [];

  const report = (path: string, reason: string) => void leftOut.push([path, reason]);
  const archive = await asUnprivileged(() => packDirectory(root, ["workspace"], LIMITS, { report }));

  const unpacked = await unpack(archive);
  // A user other than root can remove only directories that are readable.
  for (const directory of [workspace, join(unpacked, "workspace")]) {
    await chmod(join(directory, "closed"), 0o700);
  }
  expect((await readdir(join(unpacked, "workspace"))).toSorted()).toEqual(["closed", "dangling", "kept"]);
  expect(leftOut.toSorted()).toEqual([
    ["workspace/closed", "it cannot be read"],
    ["workspace/locked", "it cannot be read"],
  ]);
});

describe.skipIf(process.platform !== "linux")("files that a process replaces while they are packed", () => {
  const SECRET = "canary-of-the-data-directory-41c7";
  const PACKINGS = 100;

  test("a file that is swapped for a link while it is packed never exposes a file outside the workspace", async () => {
    const outside = join(root, "outside");
    const workspace = join(root, "workspace");
    await mkdir(join(workspace, "real"), { recursive: true });
    await mkdir(outside);
    await writeFile(join(outside, "file"), SECRET);
    for (const file of [join(workspace, "file"), join(workspace, "real", "file")]) {
      await writeFile(file, "x".repeat(SECRET.length));
    }
    await using _flipping = await flip(workspace, [
      ["file", join(outside, "file")],
      ["real", outside],
    ]);

    for (let packings = 0; packings < PACKINGS; packings += 1) {
      const archive = await packDirectory(root, ["workspace"], LIMITS);
      expect(gunzipSync(archive).includes(SECRET)).toBe(false);
    }
  });

  test("packing does not wait for a file that is swapped for a named pipe", async () => {
    const workspace = join(root, "workspace");
    await mkdir(workspace);
    await writeFile(join(workspace, "file"), "x");
    await using _flipping = await flip(workspace, [["file", "a pipe"]]);

    for (let packings = 0; packings < PACKINGS; packings += 1) {
      await packDirectory(root, ["workspace"], LIMITS);
    }
  });
});

test.skipIf(process.platform !== "linux")(
  "an archive that exceeds the size limit leaves no file open",
  async () => {
    const openFiles = async () => (await readdir("/proc/self/fd")).length;
    await mkdir(join(root, "workspace"));
    for (let number = 0; number < 20; number += 1) {
      await writeFile(join(root, `workspace/${number}.bin`), randomBytes(LIMITS.maxBytes / 8));
    }
    const before = await openFiles();

    const packed = packDirectory(root, ["workspace"], { ...LIMITS, maxUnpackedBytes: 2 ** 30 });

    await expect(packed).rejects.toThrow(ArchiveTooLarge);
    await waitFor(async () => (await openFiles()) <= before, { what: "all files to be closed" });
  },
);

test.each(["1969-12-31T23:59:58.500Z", "2001-01-01T00:00:00.500Z", "2300-01-01T00:00:00.500Z"])(
  "files last modified at %s are packed",
  async (time) => {
    const workspace = join(root, "workspace");
    await mkdir(join(workspace, "directory"), { recursive: true });
    await writeFile(join(workspace, "file"), "x");
    await symlink("file", join(workspace, "link"));
    const changed = new Date(time);
    for (const name of ["directory", "file", "link"]) {
      await lutimes(join(workspace, name), changed, changed);
    }

    const archive = await packDirectory(root, ["workspace"], LIMITS);

    const { mtimeMs } = await lstat(join(await unpack(archive), "workspace", "file"));
    expect(mtimeMs).toBe(changed.getTime() - 500);
  },
);

async function unpack(archive: Uint8Array): Promise<string> {
  const target = join(root, "target");
  await mkdir(target);
  await unpackArchive(archive, target);
  return target;
}

/** Starts a process that swaps the files of a directory for links or pipes and back as fast as possible. */
async function flip(
  directory: string,
  swaps: readonly (readonly [name: string, target: string])[],
): Promise<AsyncDisposable> {
  const script = `
    const { renameSync, symlinkSync } = require("node:fs");
    const { execFileSync } = require("node:child_process");
    const swaps = ${JSON.stringify(swaps)};
    for (const [name, target] of swaps)
      if (target === "a pipe") execFileSync("mkfifo", [name + ".other"]);
      else symlinkSync(target, name + ".other");
    process.stdout.write("ready");
    for (;;)
      for (const [name] of swaps) {
        renameSync(name, name + ".own"); renameSync(name + ".other", name);
        renameSync(name, name + ".other"); renameSync(name + ".own", name);
      }`;
  const child = spawn(process.execPath, ["-e", script], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
