import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { PreparedWorkspace, StoredFiles } from "../../../src/core/model/workspaces/workspace.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import { runGit } from "../../support/change-harness.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { anIdleGateway } from "../../support/idle-gateway.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider, type TestPreparation } from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const BINARY = Buffer.from([0, 1, 2, 255, 254, 0, 13, 10]);
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(`the work of a run alone${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let root: string;
  let blobs: BlobStore;
  let runId: RunId;
  beforeEach(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/tools", {
      "file.txt": "first\n",
      "gone.txt": "x",
      "kept.txt": "kept",
      ".gitignore": "node_modules/\n*.log\n.env\n",
    });
    root = await mkdtemp(join(tmpdir(), "errand-work-"));
    blobs = createInMemoryBlobStore(systemClock);
    runId = newId<RunId>(new Date());
  });
  afterEach(async () => {
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  const SETUP = "mkdir -p node_modules; echo installed > node_modules/lib.js";
  const PLAN = { repositories: [TOOLS], setupCommands: [SETUP] };
  const providerOf = (worker: string) =>
    aWorkspaceProvider(join(root, worker), { gitUrl: repositories.fileUrl, blobs });
  const prepareOn = (worker: string, changes: Partial<TestPreparation> = {}) =>
    providerOf(worker).prepare(aPreparation(runId, { plan: PLAN, ...changes }));
  const workOf = (worker: string, workspace: PreparedWorkspace) =>
    providerOf(worker).checkpointWork({ runId, workspace, gateway: anIdleGateway() });
  const text = (...path: string[]) => readFile(join(...path), "utf8");

  /** As it is once only the work is left. */
  async function onlyWork(workspace: PreparedWorkspace): Promise<StoredFiles> {
    const work = await workOf("a", workspace);
    return { checkpoint: work, work };
  }

  test("files that the agent did not change are rebuilt as clone and setup commands make them", async () => {
    await repositories.commit("acme/tools", {
      ".gitattributes": "*.txt text\n",
      "a.txt": "a\r\n",
      "lock.json": "{}\n",
      "gone.txt": "x\n",
    });
    const plan = {
      repositories: [TOOLS],
      setupCommands: ["echo locked > lock.json; echo built > built.txt"],
    };
    const workspace = await prepareOn("a", { plan });
    const { workingDirectory } = workspace;
    await utimes(join(workingDirectory, "a.txt"), 1, 1);
    await writeFile(join(workingDirectory, "new.txt"), "new\n");
    await rm(join(workingDirectory, "gone.txt"));

    const restored = await prepareOn("b", { plan, stored: await onlyWork(workspace) });

    const names = ["a.txt", "lock.json", "built.txt", "new.txt"];
    const contents = await Promise.all(names.map((name) => text(restored.workingDirectory, name)));
    expect(contents).toEqual(["a\r\n", "locked\n", "built\n", "new\n"]);
    expect(await readdir(restored.workingDirectory)).not.toContain("gone.txt");
  });

  test("commits, branches, changes and new files are rebuilt in a fresh clone, and what is missing is named", async () => {
    const workspace = await prepareOn("a");
    const { directory, home, workingDirectory } = workspace;
    const git = (...args: string[]) => runGit(workingDirectory, args);
    await writeFile(join(workingDirectory, "committed.txt"), "1");
    await git("rm", "--quiet", "gone.txt");
    await git("add", "-A");
    await git("commit", "--quiet", "-m", "on main");
    await git("branch", "at-base", "HEAD~1");
    await git("tag", "v1");
    await git("checkout", "--quiet", "-b", "feature");
    await writeFile(join(workingDirectory, "feature.txt"), "2");
    await git("add", "-A");
    await git("commit", "--quiet", "-m", "on feature");
    await writeFile(join(workingDirectory, "file.txt"), "changed\n");
    await writeFile(join(workingDirectory, "staged.txt"), "staged");
    await git("add", "staged.txt");
    await writeFile(join(workingDirectory, "new.bin"), BINARY);
    await chmod(join(workingDirectory, "new.bin"), 0o755);
    await symlink("kept.txt", join(workingDirectory, "link"));
    await writeFile(join(workingDirectory, "debug.log"), "ignored");
    await writeFile(join(workingDirectory, ".env"), "ignored");
    await writeFile(join(workingDirectory, "node_modules/more.js"), "ignored");
    await mkdir(join(directory, "notes"));
    await writeFile(join(directory, "notes/plan.txt"), "beside the repositories");
    await writeFile(join(home, "session"), "remembered");
    const stored = await onlyWork(workspace);
    const log = await git("log", "--all", "--format=%H %s", "--", ".");
    await repositories.commit("acme/tools", { "file.txt": "newer\n" });

    const restored = await prepareOn("b", { stored });

    const again = (...args: string[]) => runGit(restored.workingDirectory, args);
    expect(await again("log", "--all", "--format=%H %s", "--", ".")).toBe(log);
    expect(await again("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")).toBe(
      "refs/heads/at-base\nrefs/heads/feature\nrefs/heads/main\nrefs/tags/v1\n",
    );
    expect(await again("symbolic-ref", "HEAD")).toBe("refs/heads/feature\n");
    expect(await again("status", "--porcelain")).toBe(" M file.txt\n?? link\n?? new.bin\n?? staged.txt\n");
    expect(await again("fsck", "--no-dangling")).toBe("");
    expect(await text(restored.workingDirectory, "file.txt")).toBe("changed\n");
    expect(await readFile(join(restored.workingDirectory, "new.bin"))).toEqual(BINARY);
    expect((await stat(join(restored.workingDirectory, "new.bin"))).mode & 0o111).not.toBe(0);
    expect(await readlink(join(restored.workingDirectory, "link"))).toBe("kept.txt");
    expect(await readdir(restored.workingDirectory)).not.toContain("gone.txt");
    expect(await text(restored.workingDirectory, "node_modules/lib.js")).toBe("installed\n");
    expect(await text(restored.directory, "notes/plan.txt")).toBe("beside the repositories");
    expect(await readdir(restored.home)).toEqual([]);
    expect(restored).toMatchObject({
      isOwnCopy: false,
      gone: { restored: "work", paths: ["tools/.env", "tools/debug.log"] },
    });
  });

  test("a detached head and a stash are rebuilt, and a repository inside of another one is named as missing", async () => {
    const workspace = await prepareOn("a");
    const git = (...args: string[]) => runGit(workspace.workingDirectory, args);
    await git("checkout", "--quiet", "--detach");
    await writeFile(join(workspace.workingDirectory, "detached.txt"), "1");
    await git("add", "-A");
    await git("commit", "--quiet", "-m", "detached");
    await writeFile(join(workspace.workingDirectory, "file.txt"), "stashed\n");
    await git("stash", "--quiet");
    const inner = join(workspace.workingDirectory, "inner");
    await mkdir(inner);
    await runGit(inner, ["init", "--quiet"]);
    await runGit(inner, [
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "--allow-empty",
      "-q",
      "-m",
      "x",
    ]);
    await writeFile(join(inner, "file.txt"), "in another repository");
    const head = await git("rev-parse", "HEAD");

    const restored = await prepareOn("b", { stored: await onlyWork(workspace) });

    const again = (...args: string[]) => runGit(restored.workingDirectory, args);
    expect(await again("rev-parse", "HEAD")).toBe(head);
    await expect(again("symbolic-ref", "--quiet", "HEAD")).rejects.toThrow();
    expect(await again("show", "refs/stash:file.txt")).toBe("stashed\n");
    expect(restored.gone?.paths).toEqual(["tools/inner/.git"]);
  });

  test("the repository of the agent is not changed, and nothing but the archive is left", async () => {
    const workspace = await prepareOn("a");
    await writeFile(join(workspace.workingDirectory, "new.txt"), "new");
    const state = async () => ({
      refs: await runGit(workspace.workingDirectory, ["for-each-ref"]),
      status: await runGit(workspace.workingDirectory, ["status", "--porcelain"]),
      objects: await runGit(workspace.workingDirectory, ["count-objects", "-v"]),
    });
    const before = await state();

    await workOf("a", workspace);

    expect(await state()).toEqual(before);
    const left = (await readdir(join(root, "a/runs", runId))).sort();
    expect(left).toEqual(["checkpoints.json", "home", "work.json", "workspace", "workspace.json"]);
  });

  test("a copy on the worker is used once only the work is left", async () => {
    const workspace = await prepareOn("a");
    await writeFile(join(workspace.home, "session"), "remembered");
    await providerOf("a").checkpoint(runId);

    const back = await prepareOn("a", { stored: await onlyWork(workspace) });

    expect(back.isOwnCopy).toBe(true);
    expect(back.gone).toBeUndefined();
    expect(await text(back.home, "session")).toBe("remembered");
  });

  test("the work moves on with the changes of the next turn", async () => {
    const first = await prepareOn("a");
    await writeFile(join(first.workingDirectory, "one.txt"), "1");
    const second = await prepareOn("b", { stored: await onlyWork(first) });
    await writeFile(join(second.workingDirectory, "two.txt"), "2");
    const checkpoint = await providerOf("b").checkpoint(runId);

    const third = await prepareOn("c", { stored: { checkpoint, work: await workOf("b", second) } });

    expect(third.gone).toBeUndefined();
    expect(await runGit(third.workingDirectory, ["status", "--porcelain"])).toBe("?? one.txt\n?? two.txt\n");
  });

  test("a checkpoint whose blob is gone is replaced by its work", async () => {
    const workspace = await prepareOn("a");
    await writeFile(join(workspace.workingDirectory, "one.txt"), "1");
    const checkpoint = await providerOf("a").checkpoint(runId);
    const work = await workOf("a", workspace);
    await blobs.remove(checkpoint);

    const restored = await prepareOn("b", { stored: { checkpoint, work } });

    expect(restored.gone).toEqual({ restored: "work", paths: [] });
    expect(await text(restored.workingDirectory, "one.txt")).toBe("1");
  });

  test("a folder that is no repository any more is reported, so that the checkpoint is kept", async () => {
    const workspace = await prepareOn("a");
    await rm(join(workspace.workingDirectory, ".git"), { recursive: true });

    await expect(workOf("a", workspace)).rejects.toThrow("acme/tools");
  });
});

test("the work of a workspace without repositories is all its files except the home", async () => {
  const root = await mkdtemp(join(tmpdir(), "errand-work-"));
  const blobs = createInMemoryBlobStore(systemClock);
  const runId = newId<RunId>(new Date());
  const providerOf = (worker: string) => aWorkspaceProvider(join(root, worker), { blobs });
  const workspace = await providerOf("a").prepare(aPreparation(runId));
  await writeFile(join(workspace.directory, "report.txt"), "done");
  await writeFile(join(workspace.home, "session"), "remembered");
  const work = await providerOf("a").checkpointWork({ runId, workspace, gateway: anIdleGateway() });

  const restored = await providerOf("b").prepare(aPreparation(runId, { stored: { checkpoint: work, work } }));

  expect(await readdir(restored.directory)).toEqual(["report.txt"]);
  expect(await readdir(restored.home)).toEqual([]);
  expect(restored.gone).toEqual({ restored: "work", paths: [] });
  await rm(root, { recursive: true });
});
