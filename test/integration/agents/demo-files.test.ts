import { link, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findText, OutsideError, writeText } from "../../../src/agents/demo/workspace-files.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";

let outside: string;
let workspace: string;

beforeEach(async () => {
  const root = await makeTemporaryFolder();
  outside = join(root, "outside");
  workspace = join(root, "workspace");
  await Promise.all([mkdir(outside), mkdir(workspace)]);
  await writeFile(join(outside, "key"), "secret");
});

async function refuse(file: string): Promise<void> {
  await expect(findText(workspace, file)).rejects.toThrow(OutsideError);
  await expect(writeText(workspace, file, "changed")).rejects.toThrow(OutsideError);
  expect(await readFile(join(outside, "key"), "utf8")).toBe("secret");
}

test("the demo agent does not leave its workspace by dots or by an absolute path", async () => {
  await refuse("../outside/key");
  await refuse("a/../../outside/key");
  await refuse(join(outside, "key"));
  await refuse(".");
});

test("the demo agent does not leave its workspace by a symbolic link, of a file or of a folder", async () => {
  await symlink(join(outside, "key"), join(workspace, "file"));
  await symlink(outside, join(workspace, "folder"));
  await symlink("folder", join(workspace, "twice"));

  await refuse("file");
  await refuse("folder/key");
  await refuse("twice/key");
});

test("the demo agent does not write through a link that leads nowhere", async () => {
  await symlink(join(outside, "new"), join(workspace, "dangling"));

  await expect(writeText(workspace, "dangling", "x")).rejects.toThrow(OutsideError);
  await expect(readFile(join(outside, "new"))).rejects.toThrow("ENOENT");
});

test("the demo agent neither reads nor writes a file with a second name", async () => {
  await link(join(outside, "key"), join(workspace, "hard"));

  await refuse("hard");
});

test("the demo agent refuses a folder in place of a file", async () => {
  await mkdir(join(workspace, "folder"));

  await refuse("folder");
});

test("the demo agent follows a link inside its workspace, and makes folders", async () => {
  await symlink("target.txt", join(workspace, "link"));
  await writeFile(join(workspace, "target.txt"), "here");

  const path = await writeText(workspace, "a/b/new.txt", "new");

  expect(await findText(workspace, "link")).toBe("here");
  expect(path).toBe(join(workspace, "a/b/new.txt"));
  expect(await findText(workspace, "a/b/new.txt")).toBe("new");
  expect(await findText(workspace, "missing")).toBeUndefined();
});

test("the demo agent never reads or changes a file outside while its folder is being swapped for a link", async () => {
  const place = join(workspace, "place");
  let isSwapping = true;
  const swaps = (async () => {
    while (isSwapping) {
      // The agent makes the folder too, so a step may find it there.
      await swap(place).catch(() => undefined);
    }
  })();
  onTestFinished(() => swaps);

  const texts = new Set<string | undefined>();
  for (let attempt = 0; attempt < 300; attempt += 1) {
    texts.add(await findText(workspace, "place/key").catch(() => undefined));
    await writeText(workspace, "place/key", "inside").catch(() => undefined);
  }
  isSwapping = false;
  await swaps;

  expect(texts).not.toContain("secret");
  expect(await readFile(join(outside, "key"), "utf8")).toBe("secret");
});

async function swap(place: string): Promise<void> {
  await mkdir(place, { recursive: true });
  await writeFile(join(place, "key"), "inside");
  await rm(place, { recursive: true, force: true });
  await symlink(outside, place);
  await rm(place);
}
