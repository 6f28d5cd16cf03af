import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { InitialContents, WorkspaceProvider } from "../../../src/core/ports/workspace-provider.ts";
import { aPreparation, aWorkspaceProvider } from "../../support/workspace-harness.ts";

const FIRST = "0197f3a2-0000-7000-8000-000000000001" as RunId;
const SECOND = "0197f3a2-0000-7000-8000-000000000002" as RunId;
const FILE = { path: "attachments/a.txt", bytes: Buffer.from("input") };

let root: string;
let provider: WorkspaceProvider;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-input-files-"));
  provider = aWorkspaceProvider(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

function initialContents(runId: RunId, contents: InitialContents) {
  return aPreparation(runId, { initialContents: async () => contents });
}

function text(directory: string, file: string): Promise<string> {
  return readFile(join(directory, file), "utf8");
}

test("a new workspace contains the input files, readable by their owner only", async () => {
  const { directory } = await provider.prepare(initialContents(FIRST, { files: [FILE] }));

  expect(await text(directory, FILE.path)).toBe("input");
  expect((await stat(join(directory, FILE.path))).mode & 0o777).toBe(0o600);
});

test("input files are written once, and the agent's changes to them are preserved", async () => {
  const { directory } = await provider.prepare(initialContents(FIRST, { files: [FILE] }));
  await writeFile(join(directory, FILE.path), "changed");

  await provider.prepare(initialContents(FIRST, { files: [FILE] }));
  const checkpoint = await provider.checkpoint(FIRST);
  const again = { checkpoint, initialContents: () => Promise.reject(new Error("must not be called")) };
  await provider.prepare(aPreparation(FIRST, again));

  expect(await text(directory, FILE.path)).toBe("changed");
});

test("a run can start with a copy of another run's files, and later changes do not affect the other run", async () => {
  const first = await provider.prepare(aPreparation(FIRST));
  await writeFile(join(first.directory, "work.txt"), "of the first");
  await writeFile(join(first.home, "session"), "remembered");
  const checkpoint = await provider.checkpoint(FIRST);

  const second = await provider.prepare(initialContents(SECOND, { stored: { checkpoint }, files: [FILE] }));
  await writeFile(join(second.directory, "work.txt"), "of the second");

  expect(await text(second.home, "session")).toBe("remembered");
  expect(await text(second.directory, FILE.path)).toBe("input");
  expect(await text(first.directory, "work.txt")).toBe("of the first");
});

test("a link in place of a directory of input files is replaced, not followed", async () => {
  const outside = join(root, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "a.txt"), "ours");
  const first = await provider.prepare(aPreparation(FIRST));
  await symlink(outside, join(first.directory, "attachments"));
  const checkpoint = await provider.checkpoint(FIRST);

  const { directory } = await provider.prepare(
    initialContents(SECOND, { stored: { checkpoint }, files: [FILE] }),
  );

  expect(await text(outside, "a.txt")).toBe("ours");
  expect(await text(directory, FILE.path)).toBe("input");
});

test("a link in place of an input file is replaced, not followed", async () => {
  await writeFile(join(root, "ours.txt"), "ours");
  const first = await provider.prepare(aPreparation(FIRST));
  await mkdir(join(first.directory, "attachments"));
  await symlink(join(root, "ours.txt"), join(first.directory, FILE.path));
  const checkpoint = await provider.checkpoint(FIRST);

  const { directory } = await provider.prepare(
    initialContents(SECOND, { stored: { checkpoint }, files: [FILE] }),
  );

  expect(await text(root, "ours.txt")).toBe("ours");
  expect(await text(directory, FILE.path)).toBe("input");
});

test.each(["attachments/../../x", "../x", "attachments/..", "a/b/c", "a"])(
  "an input file with the path %s fails the preparation and leaves no workspace",
  async (path) => {
    const files = [{ path, bytes: Buffer.from("x") }];

    const prepared = provider.prepare(initialContents(FIRST, { files }));

    await expect(prepared).rejects.toMatchObject({ code: "environment_setup_failed" });
    expect(await readdir(join(root, "runs"))).not.toContain(FIRST);
  },
);

test("the files of a follow-up are added to a workspace in use, and a file that is there stays", async () => {
  const { directory } = await provider.prepare(aPreparation(FIRST));
  const later = { path: "attachments-1/b.txt", bytes: Buffer.from("later") };

  await provider.addFiles(FIRST, [{ ...FILE, path: "attachments-1/a.txt" }]);
  await writeFile(join(directory, "attachments-1/a.txt"), "changed");
  await provider.addFiles(FIRST, [{ ...FILE, path: "attachments-1/a.txt" }, later]);

  expect(await text(directory, "attachments-1/a.txt")).toBe("changed");
  expect(await text(directory, later.path)).toBe("later");
  expect(await readdir(join(directory, "attachments-1"))).toEqual(["a.txt", "b.txt"]);
  expect((await stat(join(directory, later.path))).mode & 0o777).toBe(0o600);
});

test.each(["directory", "name", "part"])(
  "the files of a follow-up follow no link in place of their %s",
  async (what) => {
    const outside = join(root, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "a.txt"), "ours");
    const { directory } = await provider.prepare(aPreparation(FIRST));
    const place = join(directory, "attachments-1");
    if (what === "directory") {
      await symlink(outside, place);
    } else {
      await mkdir(place);
      await symlink(join(outside, "a.txt"), join(place, what === "name" ? "a.txt" : "a.txt.part"));
    }

    await provider
      .addFiles(FIRST, [{ path: "attachments-1/a.txt", bytes: Buffer.from("x") }])
      .catch((error) => {
        expect(error).toMatchObject({ code: "environment_setup_failed" });
      });

    expect(await readdir(outside)).toEqual(["a.txt"]);
    expect(await text(outside, "a.txt")).toBe("ours");
  },
);

test("a collected artifact is stored with its path and size", async () => {
  const { directory } = await provider.prepare(aPreparation(FIRST));
  await mkdir(join(directory, "artifacts"));
  await writeFile(join(directory, "artifacts/a.txt"), "made");

  const { files } = await provider.collect(FIRST, new Map());

  expect(files).toMatchObject([{ path: "artifacts/a.txt", sizeBytes: 4 }]);
});
