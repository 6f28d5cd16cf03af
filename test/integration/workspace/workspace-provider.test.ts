import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../src/core/basics/errors.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { LeftOutFile } from "../../../src/core/model/workspaces/workspace.ts";
import type { WorkspaceDeps } from "../../../src/workspace/workspace-deps.ts";
import { asUnprivileged } from "../../support/unprivileged.ts";
import { waitFor } from "../../support/wait-for.ts";
import { aPreparation, aWorkspaceProvider } from "../../support/workspace-harness.ts";

const RUN = "0197f3a2-0000-7000-8000-000000000001" as RunId;
const OTHER_RUN = "0197f3a2-0000-7000-8000-000000000002" as RunId;

let root: string;
type Blobs = WorkspaceDeps["blobs"];

let blobs: Blobs & { readonly stored: Map<string, Uint8Array> };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-workspace-"));
  blobs = memoryBlobs();
});
afterEach(async () => {
  for (const worker of ["a", "b"]) {
    await chmod(join(root, worker, "runs", RUN, "workspace/locked"), 0o700).catch(() => {});
  }
  await rm(root, { recursive: true, force: true });
});

describe("the first workspace of a run", () => {
  test("a first workspace is empty, has a home beside it and is accessible to its owner only", async () => {
    const workspace = await openProvider("a").prepare(aPreparation(RUN));

    expect(workspace).toEqual({
      directory: join(root, "a/runs", RUN, "workspace"),
      workingDirectory: join(root, "a/runs", RUN, "workspace"),
      home: join(root, "a/runs", RUN, "home"),
      isOwnCopy: false,
      lacks: [],
    });
    for (const directory of [workspace.directory, workspace.home, join(root, "a/runs", RUN)]) {
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
    }
    expect(await readdir(workspace.directory)).toEqual([]);
  });

  test("a first workspace is separate from that of another run", async () => {
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(directory, "mine.txt"), "x");

    const other = await openProvider("a").prepare(aPreparation(OTHER_RUN));

    expect(await readdir(other.directory)).toEqual([]);
  });
});

describe("checkpoints", () => {
  test("another worker restores a checkpoint with files, home, links and modes", async () => {
    const before = await openProvider("a").prepare(aPreparation(RUN));
    await mkdir(join(before.directory, "src/deep"), { recursive: true });
    await writeFile(join(before.directory, "src/deep/größe.ts"), "code");
    await writeFile(join(before.directory, "run.sh"), "#!/bin/sh", { mode: 0o750 });
    await writeFile(join(before.directory, "readonly.txt"), "fixed", { mode: 0o444 });
    await link(join(before.directory, "run.sh"), join(before.directory, "hard.sh"));
    await symlink("src/deep", join(before.directory, "relative"));
    await symlink("/usr/bin/python3", join(before.directory, "absolute"));
    await symlink("../../../elsewhere", join(before.directory, "outside"));
    await mkdir(join(before.directory, "locked"));
    await writeFile(join(before.directory, "locked/inside.txt"), "x");
    await chmod(join(before.directory, "locked"), 0o555);
    await writeFile(join(before.home, ".agent-session"), "session");

    const id = await openProvider("a").checkpoint(RUN);
    const { directory, home } = await openProvider("b").prepare(atCheckpoint(id));

    expect(directory).toContain(join(root, "b"));
    expect(await readFile(join(directory, "src/deep/größe.ts"), "utf8")).toBe("code");
    expect(await modeOf(directory, "run.sh")).toBe(0o750);
    expect(await modeOf(directory, "readonly.txt")).toBe(0o444);
    expect(await modeOf(directory, "locked")).toBe(0o555);
    expect(await readFile(join(directory, "hard.sh"), "utf8")).toBe("#!/bin/sh");
    expect(await readFile(join(directory, "locked/inside.txt"), "utf8")).toBe("x");
    expect(await readlink(join(directory, "relative"))).toBe("src/deep");
    expect(await readlink(join(directory, "absolute"))).toBe("/usr/bin/python3");
    expect(await readlink(join(directory, "outside"))).toBe("../../../elsewhere");
    expect(await readFile(join(home, ".agent-session"), "utf8")).toBe("session");
  });

  test("a checkpoint contains links but not their targets", async () => {
    const outside = join(root, "secret.txt");
    await writeFile(outside, "top secret");
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    await symlink(outside, join(directory, "link"));
    await symlink(root, join(directory, "dirlink"));

    const id = await openProvider("a").checkpoint(RUN);
    await rm(outside);
    const restored = await openProvider("b").prepare(atCheckpoint(id));

    expect((await readdir(restored.directory)).sort()).toEqual(["dirlink", "link"]);
    await expect(readFile(join(restored.directory, "link"))).rejects.toThrow("ENOENT");
  });

  test("a checkpoint omits sockets and pipes", async () => {
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(directory, "file.txt"), "x");
    const server = createServer().listen(join(directory, "socket"));
    await once(server, "listening");
    await once(spawn("mkfifo", [join(directory, "pipe")]), "exit");
    const leftOut: LeftOutFile[] = [];

    const id = await openProvider("a").checkpoint(RUN, (file) => void leftOut.push(file));
    server.close();
    const restored = await openProvider("b").prepare(atCheckpoint(id));

    expect(await readdir(restored.directory)).toEqual(["file.txt"]);
    // Nothing is missing without them.
    expect(leftOut).toEqual([]);
  });

  test("a checkpoint omits files that cannot be read, and names them", async () => {
    await chmod(root, 0o777);
    const leftOut: LeftOutFile[] = [];

    const id = await asUnprivileged(async () => {
      const { directory } = await openProvider("a").prepare(aPreparation(RUN));
      await writeFile(join(directory, "file.txt"), "x");
      await writeFile(join(directory, "locked.txt"), "x");
      await chmod(join(directory, "locked.txt"), 0);
      return openProvider("a").checkpoint(RUN, (file) => void leftOut.push(file));
    });

    const restored = await openProvider("b").prepare(atCheckpoint(id));
    expect(await readdir(restored.directory)).toEqual(["file.txt"]);
    expect(leftOut).toEqual([{ path: "workspace/locked.txt", reason: "it cannot be read" }]);
  });

  test.each([
    ["compressed", crypto.getRandomValues(new Uint8Array(60_000))],
    ["unpacked", new Uint8Array(40 * 50_000)],
  ])(
    "a checkpoint that is too large when %s fails, and the run's files and its last checkpoint stay intact",
    async (_what, bytes) => {
      const small = openProvider("a", 50_000);
      const { directory } = await small.prepare(aPreparation(RUN));
      const id = await small.checkpoint(RUN);
      await writeFile(join(directory, "big.bin"), bytes);

      await expect(small.checkpoint(RUN)).rejects.toMatchObject({
        code: "operation_not_supported",
        retryable: false,
        options: { remedy: expect.stringContaining("Remove files") },
      });

      const again = await small.prepare(atCheckpoint(id));
      expect((await stat(join(again.directory, "big.bin"))).size).toBe(bytes.length);
    },
  );

  test("a missing checkpoint fails the preparation", async () => {
    await expect(openProvider("a").prepare(atCheckpoint("gone"))).rejects.toMatchObject({
      code: "environment_setup_failed",
    });
  });

  test("a checkpoint whose store is unreachable fails the preparation with a retryable error", async () => {
    const away = { ...blobs, get: () => Promise.reject(new AppError("resource_unavailable", "away")) };

    const preparing = aWorkspaceProvider(join(root, "a"), { blobs: away }).prepare(atCheckpoint("1"));

    await expect(preparing).rejects.toMatchObject({ code: "resource_unavailable", retryable: true });
  });

  test("a damaged checkpoint fails the preparation and leaves no workspace", async () => {
    await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(root, "a/runs", RUN, "workspace/file.txt"), "x".repeat(10_000));
    const id = await openProvider("a").checkpoint(RUN);
    blobs.stored.set("cut", (blobs.stored.get(id) ?? new Uint8Array()).subarray(0, 60));

    await expect(openProvider("b").prepare(atCheckpoint("cut"))).rejects.toMatchObject({
      code: "environment_setup_failed",
    });

    expect(await readdir(join(root, "b/runs"))).not.toContain(RUN);
  });
});

describe("a worker's own copy of a workspace", () => {
  test("a worker's copy keeps the work of a lost attempt", async () => {
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(directory, "first.txt"), "x");
    const id = await openProvider("a").checkpoint(RUN);
    await writeFile(join(directory, "lost.txt"), "not stored");

    const again = await openProvider("a").prepare(atCheckpoint(id));

    expect((await readdir(again.directory)).sort()).toEqual(["first.txt", "lost.txt"]);
  });

  test("a worker's copy is used even if there is no checkpoint yet", async () => {
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(directory, "lost.txt"), "not stored");

    expect(await readdir((await openProvider("a").prepare(aPreparation(RUN))).directory)).toEqual([
      "lost.txt",
    ]);
  });

  test.each([[undefined], ["an earlier one"]])(
    "a worker's copy is used if the worker was lost before the run recorded its checkpoint (recorded before: %s)",
    async (earlier) => {
      const { directory } = await openProvider("a").prepare(aPreparation(RUN));
      const named = earlier === undefined ? undefined : await openProvider("a").checkpoint(RUN);
      await writeFile(join(directory, "work.txt"), "x");
      await openProvider("a").checkpoint(RUN);

      const again = await openProvider("a").prepare(atCheckpoint(named));

      expect(await readdir(again.directory)).toEqual(["work.txt"]);
    },
  );

  test("a worker's copy is replaced if another worker has run a turn since", async () => {
    const mine = await openProvider("a").prepare(aPreparation(RUN));
    await writeFile(join(mine.directory, "common.txt"), "x");
    const first = await openProvider("a").checkpoint(RUN);
    await writeFile(join(mine.directory, "stale.txt"), "x");
    await mkdir(join(mine.directory, "cache"));
    await writeFile(join(mine.directory, "cache/module.txt"), "x");
    await chmod(join(mine.directory, "cache"), 0o555);
    const theirs = await openProvider("b").prepare(atCheckpoint(first));
    await writeFile(join(theirs.directory, "newer.txt"), "x");
    const second = await openProvider("b").checkpoint(RUN);

    const again = await openProvider("a").prepare(atCheckpoint(second));

    expect((await readdir(again.directory)).sort()).toEqual(["common.txt", "newer.txt"]);
    expect(await readdir(join(root, "a/runs"))).toEqual([RUN]);
  });

  test("a worker that is killed while it restores leaves no half-restored workspace", async () => {
    const { directory } = await openProvider("a").prepare(aPreparation(RUN));
    const names = Array.from({ length: 800 }, (_, index) => `${index}.txt`);
    await Promise.all(names.map((name) => writeFile(join(directory, name), "x")));
    const id = await openProvider("a").checkpoint(RUN);
    const archive = join(root, "archive.tgz");
    await writeFile(archive, blobs.stored.get(id) ?? "");

    await killWhileRestoring(archive, id);
    const left = await readdir(join(root, "b/runs", RUN));
    const restored = await openProvider("b").prepare(atCheckpoint(id));

    expect(left).not.toContain("checkpoints.json");
    expect(await readdir(restored.directory)).toHaveLength(800);
    expect(await readdir(join(root, "b/runs"))).toEqual([RUN]);
  });
});

function openProvider(worker: string, maxBytes?: number) {
  return aWorkspaceProvider(join(root, worker), { blobs, ...(maxBytes === undefined ? {} : { maxBytes }) });
}

function atCheckpoint(checkpoint: string | undefined) {
  return aPreparation(RUN, checkpoint === undefined ? {} : { stored: { checkpoint } });
}

async function modeOf(directory: string, file: string): Promise<number> {
  return (await stat(join(directory, file))).mode & 0o7777;
}

function memoryBlobs(): Blobs & { readonly stored: Map<string, Uint8Array> } {
  const stored = new Map<string, Uint8Array>();
  return {
    stored,
    put: async (blob) => {
      const id = `blob-${stored.size + 1}`;
      stored.set(id, blob);
      return id;
    },
    get: async (id) => {
      const blob = stored.get(id);
      if (blob === undefined) {
        throw new Error(`no blob ${id}`);
      }
      return blob;
    },
    remove: async (id) => void stored.delete(id),
  };
}

/** Restores in a separate process, which is killed as soon as some files exist. */
async function killWhileRestoring(archive: string, id: string): Promise<void> {
  const harness = join(import.meta.dirname, "../../support/workspace-harness.ts");
  const dataDir = join(root, "b");
  const script = `
    import { readFile } from "node:fs/promises";
    import { aPreparation, aWorkspaceProvider } from ${JSON.stringify(harness)};
    const blobs = { get: () => readFile(${JSON.stringify(archive)}) };
    const preparation = aPreparation(${JSON.stringify(RUN)}, { stored: { checkpoint: ${JSON.stringify(id)} } });
    await aWorkspaceProvider(${JSON.stringify(dataDir)}, { blobs }).prepare(preparation);
  `;
  const worker = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" });
  const ended = once(worker, "exit");
  const half = join(dataDir, "runs", RUN, "incoming/workspace");
  await waitFor(async () => (await readdir(half)).length > 10, { what: "some files", everyMs: 1 });
  worker.kill("SIGKILL");
  await ended;
}
