import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { Workspace } from "../../../src/core/model/workspaces/workspace.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { createChangeTracker } from "../../../src/workspace/changes/change-tracker.ts";
import { runGit } from "../../support/change-harness.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { anIdleGateway } from "../../support/idle-gateway.ts";
import { pushLargeRepository } from "../../support/large-repository.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider, commitsAt, stepsOf } from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const MAX_BYTES = 2 ** 20;
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(
  `a workspace too large to be stored as a whole${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let root: string;
    let blobs: BlobStore;
    let runId: RunId;

    beforeEach(async () => {
      repositories = await GitRepositories.create();
      await repositories.commit("acme/tools", {
        "file.txt": "first\n",
        "gone.txt": "x",
        "dir/a.txt": "a",
        ".gitignore": "deps/\n",
      });
      root = await mkdtemp(join(tmpdir(), "errand-large-"));
      blobs = createInMemoryBlobStore(systemClock);
      runId = newId<RunId>(new Date());
    });
    afterEach(async () => {
      await repositories.remove();
      await rm(root, { recursive: true, force: true });
    });

    /** Creates files that cannot be compressed and can be produced again. */
    const setUp = () =>
      `echo x >> ${root}/count; mkdir -p deps/sub; head -c 6000000 /dev/urandom > deps/large.bin; echo dep > deps/lib.txt; ` +
      'echo dep > deps/sub/file.txt; pwd > deps/where; echo cached > "$HOME/cache"';
    const plan = () => ({ repositories: [TOOLS], setupCommands: [setUp()] });
    const providerOf = (worker: string) =>
      aWorkspaceProvider(join(root, worker), { gitUrl: repositories.fileUrl, blobs, maxBytes: MAX_BYTES });
    const inputFile = { path: "attachments/a.txt", bytes: Buffer.from("input") };
    const prepareFirst = () =>
      providerOf("a").prepare(
        aPreparation(runId, { plan: plan(), initialContents: async () => ({ files: [inputFile] }) }),
      );
    const text = (...path: string[]) => readFile(join(...path), "utf8");

    async function moveRun(
      from: string,
      to: string,
    ): Promise<Workspace & { readonly reportedSteps: readonly unknown[] }> {
      const checkpoint = await providerOf(from).checkpoint(runId);
      expect((await blobs.get(checkpoint)).length).toBeLessThan(MAX_BYTES);
      // A later environment has no effect on a run that has begun.
      const preparation = aPreparation(runId, {
        stored: { checkpoint },
        plan: { setupCommands: ["exit 1"] },
      });
      return {
        ...(await providerOf(to).prepare(preparation)),
        reportedSteps: stepsOf(preparation.reportedSteps),
      };
    }

    test("a large checkpoint omits what the setup commands produce, and another worker produces it again", async () => {
      const { home, workingDirectory } = await prepareFirst();
      await writeFile(join(workingDirectory, "committed.txt"), "1");
      await runGit(workingDirectory, ["rm", "--quiet", "gone.txt"]);
      await runGit(workingDirectory, ["add", "-A"]);
      await runGit(workingDirectory, ["commit", "--quiet", "-m", "work"]);
      await writeFile(join(workingDirectory, "file.txt"), "changed\n");
      await writeFile(join(workingDirectory, "untracked.txt"), "2");
      await writeFile(join(workingDirectory, "deps/lib.txt"), "patched by the agent");
      await rm(join(workingDirectory, "deps/sub"), { recursive: true });
      await rename(join(workingDirectory, "dir"), join(workingDirectory, "renamed"));
      await writeFile(join(home, "session"), "remembered");
      await repositories.commit("acme/tools", { "file.txt": "newer\n" });
      const status = await runGit(workingDirectory, ["status", "--porcelain"]);

      const restored = await moveRun("a", "b");

      const restoredDirectory = restored.workingDirectory;
      const git = (...args: string[]) => runGit(restoredDirectory, args);
      expect(await git("log", "-1", "--format=%s")).toBe("work\n");
      expect(await git("status", "--porcelain")).toBe(status);
      expect(await git("fsck")).toBe("");
      expect(await text(restoredDirectory, "file.txt")).toBe("changed\n");
      expect(await text(restoredDirectory, "untracked.txt")).toBe("2");
      expect(await readdir(restoredDirectory)).not.toContain("dir");
      expect(await text(restoredDirectory, "renamed/a.txt")).toBe("a");
      expect((await readdir(join(restoredDirectory, "deps"))).sort()).toEqual([
        "large.bin",
        "lib.txt",
        "where",
      ]);
      expect(await text(restoredDirectory, "deps/lib.txt")).toBe("patched by the agent");
      expect((await stat(join(restoredDirectory, "deps/large.bin"))).size).toBe(6_000_000);
      expect(await text(restoredDirectory, "deps/where")).toBe(`${restoredDirectory}\n`);
      expect(await text(restored.directory, "attachments/a.txt")).toBe("input");
      expect([await text(restored.home, "session"), await text(restored.home, "cache")]).toEqual([
        "remembered",
        "cached\n",
      ]);
      expect(await text(root, "count")).toBe("x\nx\n");
      expect(restored.reportedSteps).toMatchObject([
        ["Restore the files", "completed", ""],
        ["Clone acme/tools", "completed", expect.stringContaining("main at")],
        [expect.stringContaining("echo x"), "completed", ""],
      ]);
    });

    test("what was too large for one run is not packed as a whole for the next one with the same setup", async () => {
      const provider = providerOf("a");
      const second = newId<RunId>(new Date());
      const stored = async (id: RunId, commands = setUp()) => {
        const { workingDirectory } = await provider.prepare(
          aPreparation(id, { plan: { repositories: [TOOLS], setupCommands: [commands] } }),
        );
        // Now the whole would be small enough.
        await (id === runId ? undefined : rm(join(workingDirectory, "deps/large.bin")));
        const checkpoint = await provider.checkpoint(id);
        await providerOf("b").prepare(aPreparation(id, { stored: { checkpoint }, plan: plan() }));
      };
      await stored(runId);
      await repositories.commit("acme/tools", { "file.txt": "second\n" });

      await stored(second);
      await stored(newId<RunId>(new Date()), `${setUp()}; true`);

      // Each run once, and again where a checkpoint without the base was restored: not that of another setup.
      expect(await text(root, "count")).toBe("x\n".repeat(2 + 2 + 1));
    });

    test("a large workspace moves from worker to worker with the changes of each", async () => {
      const first = await prepareFirst();
      await writeFile(join(first.workingDirectory, "one.txt"), "1");
      const second = await moveRun("a", "b");
      await rm(join(second.workingDirectory, "one.txt"));
      await writeFile(join(second.workingDirectory, "two.txt"), "2");

      const third = await moveRun("b", "c");

      expect((await readdir(third.workingDirectory)).sort()).toEqual(
        [".git", ".gitignore", "deps", "dir", "file.txt", "gone.txt", "two.txt"].sort(),
      );
      expect(await runGit(third.workingDirectory, ["status", "--porcelain"])).toBe("?? two.txt\n");
    });

    test("restoring a large checkpoint does not follow links that lead out of the workspace", async () => {
      const { workingDirectory } = await prepareFirst();
      const outside = join(root, "outside");
      await mkdir(join(outside, "sub"), { recursive: true });
      await writeFile(join(outside, "sub/file.txt"), "ours");
      await rm(join(workingDirectory, "deps/sub"), { recursive: true });
      await symlink(join(outside, "sub"), join(workingDirectory, "deps/sub"));
      await rm(join(workingDirectory, "dir"), { recursive: true });
      await symlink(outside, join(workingDirectory, "dir"));
      await mkdir(join(workingDirectory, "made/sub"), { recursive: true });
      await writeFile(join(workingDirectory, "made/sub/file.txt"), "theirs");

      const { workingDirectory: restoredDirectory } = await moveRun("a", "b");

      expect(await text(outside, "sub/file.txt")).toBe("ours");
      expect((await readdir(outside)).sort()).toEqual(["sub"]);
      expect(await readlink(join(restoredDirectory, "dir"))).toBe(outside);
      expect((await lstat(join(restoredDirectory, "deps/sub"))).isSymbolicLink()).toBe(true);
    });

    test("restoring over the output of the setup commands does not follow links in that output", async () => {
      const outside = join(root, "outside");
      await mkdir(outside);
      await writeFile(join(outside, "file.txt"), "ours");
      // The second time, the commands create a link where the agent has removed something.
      const commands = `${setUp()}; ln -s ${outside} deps/link; if test -e ${root}/again; then ln -s ${outside} deps/turn; else mkdir deps/turn; echo x > deps/turn/file.txt; fi`;
      const plan = { repositories: [TOOLS], setupCommands: [commands] };
      const { workingDirectory } = await providerOf("a").prepare(aPreparation(runId, { plan }));
      await rm(join(workingDirectory, "deps/link"));
      await mkdir(join(workingDirectory, "deps/link"));
      await writeFile(join(workingDirectory, "deps/link/file.txt"), "theirs");
      await rm(join(workingDirectory, "deps/turn/file.txt"));
      await writeFile(join(root, "again"), "");

      const { workingDirectory: restoredDirectory } = await moveRun("a", "b");

      expect(await text(outside, "file.txt")).toBe("ours");
      expect(await text(restoredDirectory, "deps/link/file.txt")).toBe("theirs");
    });

    test("restoring a large checkpoint fails without its repository, and the error names the repository", async () => {
      await prepareFirst();
      const checkpoint = await providerOf("a").checkpoint(runId);
      await rm(repositories.pathOf("acme/tools"), { recursive: true });

      const preparing = providerOf("b").prepare(
        aPreparation(runId, { stored: { checkpoint }, plan: plan() }),
      );

      await expect(preparing).rejects.toMatchObject({
        code: "environment_setup_failed",
        message: expect.stringContaining("acme/tools"),
      });
      expect(await readdir(join(root, "b/runs"))).toEqual([]);
    });

    test("a repository of 150 MiB is stored and restored with the work of a turn", {
      timeout: 400_000,
    }, async () => {
      await pushLargeRepository(repositories);
      const gitUrl = repositories.fileUrl;
      const provider = (worker: string) => aWorkspaceProvider(join(root, worker), { gitUrl, blobs });
      const large = { repositories: [{ owner: "acme", name: "large" }] };
      const workspace = await provider("a").prepare(aPreparation(runId, { plan: large }));
      const { workingDirectory } = workspace;
      const dataDir = join(root, "a");
      const sandbox = createLocalSandbox(dataDir);
      const changes = createChangeTracker({
        ...{ dataDir, sandbox, gitUrl, variablesOf: () => ({}) },
        findCommit: commitsAt(dataDir, gitUrl),
      });
      const runWorkspace = { runId, workspace, gateway: anIdleGateway() };
      await changes.takeSnapshot(runWorkspace);
      await writeFile(join(workingDirectory, "committed.txt"), "1");
      await runGit(workingDirectory, ["add", "-A"]);
      await runGit(workingDirectory, ["commit", "--quiet", "-m", "work"]);
      await writeFile(join(workingDirectory, "untracked.txt"), "2");
      await changes.diff(runWorkspace, "snapshot");

      const checkpoint = await provider("a").checkpoint(runId);
      const restored = await provider("b").prepare(aPreparation(runId, { stored: { checkpoint } }));

      const work = await provider("a").checkpointWork(runWorkspace);
      const rebuilt = await provider("c").prepare(
        aPreparation(runId, { stored: { checkpoint: work, work } }),
      );

      expect((await blobs.get(checkpoint)).length).toBeLessThan(MAX_BYTES);
      expect((await blobs.get(work)).length).toBeLessThan(10_000);
      expect(await runGit(rebuilt.workingDirectory, ["log", "-1", "--format=%s"])).toBe("work\n");
      expect(await runGit(rebuilt.workingDirectory, ["status", "--porcelain"])).toBe("?? untracked.txt\n");
      const git = (...args: string[]) => runGit(restored.workingDirectory, args);
      expect(await git("log", "-1", "--format=%s")).toBe("work\n");
      expect(await git("status", "--porcelain")).toBe("?? untracked.txt\n");
      expect(await git("fsck", "--connectivity-only")).toBe("");
    });

    test("a checkpoint fails if the agent's own files exceed the size limit", async () => {
      const { workingDirectory } = await prepareFirst();
      await writeFile(join(workingDirectory, "own.bin"), crypto.getRandomValues(new Uint8Array(60_000)));
      for (let part = 0; part < 40; part += 1) {
        const bytes = crypto.getRandomValues(new Uint8Array(60_000));
        await writeFile(join(workingDirectory, `own-${part}.bin`), bytes);
      }

      await expect(providerOf("a").checkpoint(runId)).rejects.toMatchObject({
        code: "operation_not_supported",
      });
    });
  },
);
