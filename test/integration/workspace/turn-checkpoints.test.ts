import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { list } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { StoredWithinTurn } from "../../../src/core/model/workspaces/workspace.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import { runGit } from "../../support/change-harness.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { anIdleGateway } from "../../support/idle-gateway.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { waitFor } from "../../support/wait-for.ts";
import { aPreparation, aWorkspaceProvider } from "../../support/workspace-harness.ts";

const NEVER = new AbortController().signal;
const LARGE_BYTES = 300_000;
const skipped = reasonToSkipGit();

let root: string;
let blobs: BlobStore;
let runId: RunId;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-turn-"));
  blobs = createInMemoryBlobStore(systemClock);
  runId = newId<RunId>(new Date());
});
afterEach(() => rm(root, { recursive: true, force: true }));

const providerOf = (worker: string, options: { gitUrl?: string; maxBytes?: number } = {}) =>
  aWorkspaceProvider(join(root, worker), { blobs, ...options });
const text = (...path: string[]) => readFile(join(...path), "utf8");

/** File systems count time in steps, so a file that has just changed counts as changed once more. */
async function settled(path: string): Promise<void> {
  await waitFor(async () => (await stat(path)).ctimeMs < Date.now() - 100, {
    what: "the file to be old enough",
  });
}

async function store(worker: string, before?: StoredWithinTurn): Promise<StoredWithinTurn> {
  const stored = await providerOf(worker).storeWithinTurn(runId, before, NEVER);
  if (stored === undefined) {
    throw new Error("Nothing was stored.");
  }
  return stored;
}

async function namesIn(blobId: string | undefined): Promise<readonly string[]> {
  const names: string[] = [];
  const reading = list({ onReadEntry: ({ path }) => void names.push(path) });
  const ended = new Promise((resolve) => reading.on("end", resolve));
  reading.end(Buffer.from(await blobs.get(blobId ?? "")));
  await ended;
  return names;
}

/** A workspace of which a checkpoint is stored. */
async function begin(): Promise<{ directory: string; home: string; stored: StoredWithinTurn }> {
  const { directory, home } = await providerOf("a").prepare(aPreparation(runId));
  await mkdir(join(directory, "src/deep"), { recursive: true });
  await writeFile(join(directory, "large.bin"), crypto.getRandomValues(new Uint8Array(60_000)));
  await writeFile(join(directory, "src/deep/kept.txt"), "kept");
  await writeFile(join(directory, "src/changed.txt"), "before");
  await writeFile(join(directory, "src/gone.txt"), "gone");
  await settled(join(directory, "src/gone.txt"));
  return { directory, home, stored: await store("a") };
}

test("within a turn only what changed since the checkpoint is stored, and another worker restores it", async () => {
  const { directory, home, stored } = await begin();
  await writeFile(join(directory, "src/changed.txt"), "after!");
  await rm(join(directory, "src/gone.txt"));
  await rename(join(directory, "src/deep"), join(directory, "moved"));
  await mkdir(join(directory, "empty"));
  await chmod(join(directory, "src"), 0o750);
  await writeFile(join(home, "session"), "remembered");

  const second = await store("a", stored);
  const restored = await providerOf("b").prepare(aPreparation(runId, { stored: second }));

  expect(second.checkpoint).toBe(stored.checkpoint);
  const names = (await namesIn(second.delta)).map((name) => name.replace(/\/$/, "")).sort();
  expect(names).toEqual(
    [
      ...["delta.json", "home", "home/session", "workspace", "workspace.json", "workspace/empty"],
      ...["workspace/moved", "workspace/moved/kept.txt", "workspace/src", "workspace/src/changed.txt"],
    ].sort(),
  );
  expect((await readdir(restored.directory)).sort()).toEqual(["empty", "large.bin", "moved", "src"]);
  expect(await readdir(join(restored.directory, "src"))).toEqual(["changed.txt"]);
  expect(await text(restored.directory, "src/changed.txt")).toBe("after!");
  expect(await text(restored.directory, "moved/kept.txt")).toBe("kept");
  expect(await text(restored.home, "session")).toBe("remembered");
  expect((await stat(join(restored.directory, "src"))).mode & 0o777).toBe(0o750);
});

test("nothing is stored while nothing changes", async () => {
  const { directory, stored } = await begin();
  await writeFile(join(directory, "new.txt"), "new");
  await settled(join(directory, "new.txt"));
  const second = await store("a", stored);

  expect(await providerOf("a").storeWithinTurn(runId, second, NEVER)).toBeUndefined();
  await rm(join(directory, "new.txt"));
  expect(await providerOf("a").storeWithinTurn(runId, second, NEVER)).toMatchObject({
    checkpoint: stored.checkpoint,
  });
});

test("a worker that restored the files stores what changed since the same checkpoint", async () => {
  const { directory, stored } = await begin();
  await writeFile(join(directory, "one.txt"), "1");
  const first = await store("a", stored);
  const second = await providerOf("b").prepare(aPreparation(runId, { stored: first }));
  await writeFile(join(second.directory, "two.txt"), "2");

  const last = await store("b", first);
  const third = await providerOf("c").prepare(aPreparation(runId, { stored: last }));

  expect(last.checkpoint).toBe(stored.checkpoint);
  expect((await readdir(third.directory)).sort()).toEqual(["large.bin", "one.txt", "src", "two.txt"]);
  expect(await namesIn(last.delta)).not.toContain("workspace/large.bin");
});

test("an older copy of a worker is replaced although no checkpoint was stored since", async () => {
  const { directory, stored } = await begin();
  await writeFile(join(directory, "unstored.txt"), "of the first worker");
  const elsewhere = await providerOf("b").prepare(aPreparation(runId, { stored }));
  await writeFile(join(elsewhere.directory, "newer.txt"), "of the second worker");
  const newer = await store("b", stored);

  const back = await providerOf("a").prepare(aPreparation(runId, { stored: newer, isNewerElsewhere: true }));

  expect(back.isOwnCopy).toBe(false);
  expect((await readdir(back.directory)).sort()).toEqual(["large.bin", "newer.txt", "src"]);
});

test("if more changed than can be stored as changes, a checkpoint is stored again", async () => {
  const maxBytes = 200_000;
  const provider = providerOf("a", { maxBytes });
  const { directory, stored } = await begin();
  await rm(join(directory, "large.bin"));
  for (const name of ["1.bin", "2.bin", "3.bin"]) {
    await writeFile(join(directory, name), crypto.getRandomValues(new Uint8Array(60_000)));
  }
  expect(await provider.storeWithinTurn(runId, stored, NEVER)).toMatchObject({
    checkpoint: stored.checkpoint,
  });
  await writeFile(join(directory, "3.bin"), new Uint8Array(LARGE_BYTES));
  await writeFile(join(directory, "4.bin"), crypto.getRandomValues(new Uint8Array(60_000)));
  await writeFile(join(directory, "5.bin"), crypto.getRandomValues(new Uint8Array(60_000)));

  await expect(provider.storeWithinTurn(runId, stored, NEVER)).rejects.toMatchObject({
    code: "operation_not_supported",
  });
});

test("the end of a turn stores a small workspace as a whole, and of a large one what changed", async () => {
  const { directory, stored } = await begin();
  const small = await providerOf("a").storeTurn(runId, stored, NEVER);
  await writeFile(join(directory, "more.bin"), new Uint8Array(5 * 2 ** 20));
  await settled(join(directory, "more.bin"));
  const { checkpoint } = await store("a");
  await writeFile(join(directory, "src/changed.txt"), "after!");

  const large = await providerOf("a").storeTurn(runId, { checkpoint }, NEVER);
  const restored = await providerOf("b").prepare(aPreparation(runId, { stored: large }));

  expect(small).toMatchObject({ isQuick: false });
  expect(await namesIn(small.checkpoint)).toContain("workspace/large.bin");
  expect(large).toMatchObject({ isQuick: true, checkpoint });
  expect(await namesIn(large.delta)).not.toContain("workspace/more.bin");
  expect(await text(restored.directory, "src/changed.txt")).toBe("after!");
  expect((await stat(join(restored.directory, "more.bin"))).size).toBe(5 * 2 ** 20);
});

test("a file that cannot be read is named at the end of a turn, also if nothing changed since it was named", async () => {
  const { directory } = await begin();
  await writeFile(join(directory, "more.bin"), new Uint8Array(5 * 2 ** 20));
  await mkdir(join(directory, ...Array(300).fill("d")), { recursive: true });
  await settled(join(directory, "more.bin"));
  const first = await store("a");
  const second = await store("a", first);

  const { leftOut } = await providerOf("a").storeTurn(runId, second, NEVER);

  expect(leftOut).toHaveLength(1);
  expect(leftOut).toEqual(first.leftOut);
});

test("storing stops at once when the turn ends", async () => {
  const { stored } = await begin();
  const ended = AbortSignal.abort();

  await expect(providerOf("a").storeWithinTurn(runId, undefined, ended)).rejects.toThrow();
  await expect(providerOf("a").storeWithinTurn(runId, stored, ended)).rejects.toThrow();
});

describe.skipIf(skipped !== undefined)(`a cloned repository${skipped ? ` (${skipped})` : ""}`, () => {
  test("the first checkpoint within a turn omits what clone and setup commands made", async () => {
    const repositories = await GitRepositories.create();
    const large = crypto.getRandomValues(new Uint8Array(60_000));
    const contents = { "file.txt": "first\n", "large.txt": Buffer.from(large).toString("hex") };
    await repositories.commit("acme/tools", contents);
    const gitUrl = repositories.fileUrl;
    const plan = {
      repositories: [{ owner: "acme", name: "tools" }],
      setupCommands: ["head -c 6000000 /dev/urandom > deps.bin"],
    };
    const first = await providerOf("a", { gitUrl }).prepare(aPreparation(runId, { plan }));
    await writeFile(join(first.workingDirectory, "file.txt"), "changed\n");

    const stored = await providerOf("a", { gitUrl }).storeWithinTurn(runId, undefined, NEVER);
    const restored = await providerOf("b", { gitUrl }).prepare(aPreparation(runId, { stored }));
    await providerOf("b", { gitUrl }).checkpoint(runId);

    expect((await blobs.get(stored?.checkpoint ?? "")).length).toBeLessThan(1_000_000);
    expect(await text(restored.workingDirectory, "file.txt")).toBe("changed\n");
    expect((await stat(join(restored.workingDirectory, "deps.bin"))).size).toBe(6_000_000);
    expect(await runGit(restored.workingDirectory, ["status", "--porcelain"])).toContain(" M file.txt");
    // Only this checkpoint left them out. The next one contains everything again, because it is small enough.
    expect(await readdir(join(root, "b/runs", runId))).not.toContain("lean.json");
    await repositories.remove();
  });
});

test("changes whose blob is gone are named as missing, and the checkpoint is restored without them", async () => {
  const { directory, stored } = await begin();
  await writeFile(join(directory, "src/changed.txt"), "after!");
  const { checkpoint, delta = "" } = await store("a", stored);
  await blobs.remove(delta);

  const preparation = aPreparation(runId, { stored: { checkpoint, delta } });
  const restored = await providerOf("b").prepare(preparation);

  expect(restored.gone).toEqual({ restored: "checkpoint", paths: [] });
  expect(await text(restored.directory, "src/changed.txt")).toBe("before");
});

test("changes of which the checkpoint is gone do not make half a workspace: the work is restored, or the run fails with a remedy", async () => {
  const { directory, stored } = await begin();
  const workspace = await providerOf("a").prepare(
    aPreparation(runId, { stored: { checkpoint: stored.checkpoint } }),
  );
  const work = await providerOf("a").checkpointWork({ runId, workspace, gateway: anIdleGateway() });
  await writeFile(join(directory, "src/changed.txt"), "after!");
  const { checkpoint, delta } = await store("a", stored);
  await blobs.remove(checkpoint);

  const lost = providerOf("b").prepare(aPreparation(runId, { stored: { checkpoint, delta } }));
  await expect(lost).rejects.toMatchObject({
    code: "environment_setup_failed",
    message: "The stored files of this run are gone.",
    retryable: false,
    options: { remedy: expect.stringContaining("Start a new run.") },
  });
  const restored = await providerOf("b").prepare(
    aPreparation(runId, { stored: { checkpoint, delta, work } }),
  );

  expect(restored.gone).toEqual({ restored: "work", paths: [] });
  expect(await text(restored.directory, "src/changed.txt")).toBe("before");
});
