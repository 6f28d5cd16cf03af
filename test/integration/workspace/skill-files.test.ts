import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { InitialContents, WorkspaceProvider } from "../../../src/core/ports/workspace-provider.ts";
import { aPreparation, aWorkspaceProvider } from "../../support/workspace-harness.ts";

const FIRST = "0197f3a2-0000-7000-8000-000000000001" as RunId;
const SECOND = "0197f3a2-0000-7000-8000-000000000002" as RunId;

let root: string;
let provider: WorkspaceProvider;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-skill-files-"));
  provider = aWorkspaceProvider(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const file = (path: string, text: string, isExecutable = false) => ({
  path,
  bytes: Buffer.from(text),
  isExecutable,
});

function prepare(runId: RunId, files: readonly ReturnType<typeof file>[], checkpoint?: string) {
  const initialContents: InitialContents = {
    files: [],
    skills: [{ root: "directory", directory: ".skills/deploy", files }],
    ...(checkpoint === undefined ? {} : { stored: { checkpoint } }),
  };
  return provider.prepare(aPreparation(runId, { initialContents: async () => initialContents }));
}

test("a new workspace contains the skill's files, accessible to their owner only, and its programs are executable", async () => {
  const { directory } = await prepare(FIRST, [
    file("SKILL.md", "Deploy."),
    file("scripts/größe.sh", "echo", true),
  ]);

  const skillDirectory = join(directory, ".skills/deploy");
  expect(await readFile(join(skillDirectory, "SKILL.md"), "utf8")).toBe("Deploy.");
  expect((await stat(join(skillDirectory, "SKILL.md"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(skillDirectory, "scripts/größe.sh"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, ".skills"))).mode & 0o777).toBe(0o700);
});

test("the skill's folder replaces what an earlier run left there, without following its links", async () => {
  const outside = join(root, "outside");
  await writeFile(outside, "untouched");
  const before = await prepare(FIRST, [file("SKILL.md", "Old."), file("old.txt", "old")]);
  await rm(join(before.directory, ".skills/deploy/SKILL.md"));
  await symlink(outside, join(before.directory, ".skills/deploy/SKILL.md"));
  await chmod(join(before.directory, ".skills"), 0o500);
  const checkpoint = await provider.checkpoint(FIRST);
  await chmod(join(before.directory, ".skills"), 0o700);

  const { directory } = await prepare(SECOND, [file("SKILL.md", "New.")], checkpoint);

  expect(await readdir(join(directory, ".skills/deploy"))).toEqual(["SKILL.md"]);
  expect(await readFile(join(directory, ".skills/deploy/SKILL.md"), "utf8")).toBe("New.");
  expect(await readFile(outside, "utf8")).toBe("untouched");
});

test("a link in place of the skills directory is not followed", async () => {
  const before = await prepare(FIRST, []);
  await rm(join(before.directory, ".skills"), { recursive: true });
  await symlink(root, join(before.directory, ".skills"));
  const checkpoint = await provider.checkpoint(FIRST);

  const { directory } = await prepare(SECOND, [file("SKILL.md", "New.")], checkpoint);

  expect(await readdir(root)).toEqual(["runs"]);
  expect(await readFile(join(directory, ".skills/deploy/SKILL.md"), "utf8")).toBe("New.");
});

test.each(["../outside.txt", "a/../../outside.txt", "/tmp/outside.txt", "a//b", "."])(
  "a skill file with the path %s, which leads out of its folder, is rejected",
  async (path) => {
    await expect(prepare(FIRST, [file(path, "x")])).rejects.toMatchObject({
      code: "environment_setup_failed",
    });

    expect(await readdir(root)).toEqual(["runs"]);
  },
);
