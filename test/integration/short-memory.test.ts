import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isMemoryShort } from "../../src/app/short-memory.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const AMPLE = { totalBytes: 16 * GIB, freeBytes: 8 * GIB };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-memory-"));
});
afterEach(() => rm(folder, { recursive: true }));

test.each<[string, { totalBytes: number; freeBytes: number }, boolean]>([
  ["a large machine with 511 MiB left", { totalBytes: 64 * GIB, freeBytes: 511 * MIB }, true],
  ["a large machine with 513 MiB left", { totalBytes: 64 * GIB, freeBytes: 513 * MIB }, false],
  ["a small machine with a twentieth left", { totalBytes: GIB, freeBytes: 51 * MIB }, true],
  ["a small machine with a fifth left", { totalBytes: GIB, freeBytes: 205 * MIB }, false],
])("without cgroups, %s decides", async (_what, machine, isShort) => {
  expect(await isMemoryShort({ membership: join(folder, "none"), root: folder }, machine)).toBe(isShort);
});

const TWO = ["memory.max", "memory.current", "inactive_file"] as const;
const ONE = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"] as const;

test.each<
  [string, string, string, readonly [string, string, string], readonly [string, number, number], boolean]
>([
  ["its own cgroup", "0::/a/b", "a/b", TWO, [`${4 * GIB}`, 3.9 * GIB, 0], true],
  ["a cgroup around its own", "0::/a/b", "a", TWO, [`${4 * GIB}`, 3.9 * GIB, 0], true],
  ["its container", "0::/", "", TWO, [`${4 * GIB}`, 3.9 * GIB, 0], true],
  ["a cgroup full of files that nobody uses", "0::/a", "a", TWO, [`${4 * GIB}`, 3.9 * GIB, GIB], false],
  ["a cgroup with memory left", "0::/a", "a", TWO, [`${4 * GIB}`, GIB, 0], false],
  ["a cgroup without a limit", "0::/a", "a", TWO, ["max", 3.9 * GIB, 0], false],
  ["a cgroup of another program", "0::/a", "b", TWO, [`${4 * GIB}`, 3.9 * GIB, 0], false],
  ["a cgroup of version 1", "4:memory:/a\n0::/", "memory/a", ONE, [`${4 * GIB}`, 3.9 * GIB, 0], true],
  ["a container of version 1", "4:cpu,memory:/docker/a", "memory", ONE, [`${4 * GIB}`, 3.9 * GIB, 0], true],
  ["version 1 without a limit", "4:memory:/a", "memory/a", ONE, ["9223372036854771712", GIB, 0], false],
])("%s decides as well", async (_what, names, place, [max, current, unused], values, isShort) => {
  const directory = join(folder, place);
  await mkdir(directory, { recursive: true });
  await writeFile(join(folder, "membership"), `${names}\n`);
  await writeFile(join(directory, max), `${values[0]}\n`);
  await writeFile(join(directory, current), `${Math.round(values[1])}\n`);
  await writeFile(join(directory, "memory.stat"), `anon 1\n${unused} ${values[2]}\nslab 1\n`);

  expect(await isMemoryShort({ membership: join(folder, "membership"), root: folder }, AMPLE)).toBe(isShort);
});
