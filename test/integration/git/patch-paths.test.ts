import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parsePatch } from "../../../web/src/run/text/diff.ts";

const run = promisify(execFile);

const NAMES = [
  ...["図.md", "ä ö.txt", "🚀/emoji.txt", "naïve\tcafé.txt", "a b/c d.txt", " leading", "trailing "],
  ...['"quoted".txt', "it's.txt", "back\\slash.txt", "line\nend.txt", "\u0007bell.txt", "\u200Ehidden.txt"],
  ...[
    "x b/x b/y.txt",
    "b/a/b.txt",
    "tab\t",
    "-dash",
    "--- a",
    "+++ b/x",
    "{a => b}.txt",
    "\\346\\226\\207.txt",
  ],
];

/** The pages read the patch of a run as git writes it. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-patch-paths-"));
  await git("init", "--quiet");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function git(...args: readonly string[]): Promise<string> {
  const settings = ["-c", "core.quotePath=true", "-c", "user.name=n", "-c", "user.email=e@localhost"];
  return (await run("git", ["-C", folder, ...settings, ...args])).stdout;
}

async function write(name: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
}

async function files(): Promise<ReturnType<typeof parsePatch>> {
  await git("add", "-A");
  return parsePatch(await git("diff", "--cached", "-M", "--binary", "--full-index"));
}

test.each(NAMES)("the path %j is read from each kind of change", async (name) => {
  await write(name, `${"one line\n".repeat(20)}`);
  const added = await files();
  await git("commit", "--quiet", "-m", "first");
  await write(name, `${"one line\n".repeat(20)}another\n`);
  const modified = await files();
  await write(name, Buffer.from([0, 1, 2, 255]));
  const binary = await files();
  await git("reset", "--quiet", "--hard");
  await git("update-index", "--chmod=+x", "--", name);
  const modeOnly = parsePatch(await git("diff", "--cached"));
  await git("reset", "--quiet", "--hard");
  await mkdir(join(folder, "moved", dirname(name)), { recursive: true });
  await rename(join(folder, name), join(folder, "moved", name));
  const renamed = await files();
  await git("reset", "--quiet", "--hard");
  await rm(join(folder, name));
  const deleted = await files();
  await git("commit", "--quiet", "-m", "last");
  await write(name, "");
  const empty = await files();
  await git("rm", "--quiet", "--cached", "-f", "--", name);
  await rm(join(folder, name));

  expect([added, modified, binary, modeOnly, renamed, deleted, empty].map(factsOf)).toEqual([
    [["added", name, undefined]],
    [["modified", name, undefined]],
    [["modified", name, undefined]],
    [["modified", name, undefined]],
    [["renamed", join("moved", name), name]],
    [["deleted", name, undefined]],
    [["added", name, undefined]],
  ]);
});

function factsOf(parsed: ReturnType<typeof parsePatch>): readonly unknown[] {
  return parsed.map(({ status, path, oldPath }) => [status, path, oldPath]);
}
