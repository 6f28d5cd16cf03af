import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { ChangeHarness, runGit } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { anIdleGateway } from "../../support/idle-gateway.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider, stepsOf } from "../../support/workspace-harness.ts";

const FRESH = { owner: "acme", name: "fresh" };
const PUSH = { repository: FRESH, branch: "errand/abc", message: "The first work" };
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(
  `a repository without a commit${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let server: GitHttpServer;
    let root: string;
    const opened: { close(): Promise<void> }[] = [];

    beforeEach(async () => {
      repositories = await GitRepositories.create();
      await repositories.make("acme/fresh");
      server = await GitHttpServer.start(repositories.root);
      root = await mkdtemp(join(tmpdir(), "errand-empty-"));
    });
    afterEach(async () => {
      for (const each of opened.splice(0)) {
        await each.close();
      }
      await server.stop();
      await repositories.remove();
      await rm(root, { recursive: true, force: true });
    });

    async function open(): Promise<ChangeHarness> {
      const grant = { repositories: [{ ...FRESH, push: true }] };
      const harness: GatewayHarness = await openGateway({ gitUrl: server.url, grant });
      const { gateway } = harness;
      const sandbox = createLocalSandbox(tmpdir());
      const changes = await ChangeHarness.open({
        gitUrl: server.url,
        sandbox,
        repositories: [FRESH],
        gateway,
      });
      opened.push(changes, harness);
      return changes;
    }

    test("is cloned, and the step of the clone says that it has no commit", async () => {
      const preparation = aPreparation(newId<RunId>(new Date()), { plan: { repositories: [FRESH] } });

      const { workingDirectory } = await aWorkspaceProvider(root, { gitUrl: server.url }).prepare(
        preparation,
      );

      expect(stepsOf(preparation.reportedSteps)).toEqual([
        ["Clone acme/fresh", "completed", "It has no commit yet"],
      ]);
      expect(await runGit(workingDirectory, ["status", "--branch", "--porcelain"])).toContain(
        "## No commits yet on main",
      );
    });

    test("gets the files of the agent as its first commit and its first branch", async () => {
      const { changes, runWorkspace, workspace } = await open();
      await changes.takeSnapshot(runWorkspace);
      expect(await changes.push(runWorkspace, PUSH)).toBeUndefined();
      await writeFile(join(workspace.workingDirectory, "README.md"), "# Fresh\n");

      const { diffs } = await changes.diff(runWorkspace, "snapshot");
      const pushed = await changes.push(runWorkspace, PUSH);

      expect(diffs.map(({ patch }) => patch?.toString())).toEqual([expect.stringContaining("+# Fresh")]);
      expect(pushed).toMatchObject({ subject: "The first work", pushed: { branch: "errand/abc" } });
      expect(await repositories.read("acme/fresh", "errand/abc", "README.md")).toBe("# Fresh\n");
      expect(await repositories.branches("acme/fresh")).toEqual(["errand/abc"]);
      expect(await changes.wasEmpty(runWorkspace, FRESH)).toBe(true);
    });

    test("gets the commits of the agent, which may push them itself", async () => {
      const harness = await open();
      await writeFile(join(harness.workspace.workingDirectory, "a.txt"), "a");
      await harness.git("add", "-A");
      await harness.git("commit", "--quiet", "-m", "By the agent");
      await writeFile(join(harness.workspace.workingDirectory, "b.txt"), "b");

      const pushed = await harness.changes.push(harness.runWorkspace, PUSH);

      expect(pushed?.subject).toBe("By the agent");
      expect(await repositories.message("acme/fresh", "errand/abc")).toContain("The first work");
      expect(await repositories.read("acme/fresh", "errand/abc", "a.txt")).toBe("a");
      expect(await harness.changes.outside(harness.runWorkspace, FRESH, ["a.txt"])).toEqual(["b.txt"]);
    });

    test("is restored with the work of its run, also after its first branch was pushed", async () => {
      const blobs = createInMemoryBlobStore(systemClock);
      const runId = newId<RunId>(new Date());
      const plan = { repositories: [FRESH] };
      const on = (worker: string) => aWorkspaceProvider(join(root, worker), { gitUrl: server.url, blobs });
      const workspace = await on("a").prepare(aPreparation(runId, { plan }));
      const git = (...args: string[]) => runGit(workspace.workingDirectory, args);
      await writeFile(join(workspace.workingDirectory, "a.txt"), "a");
      await git("add", "-A");
      await git("commit", "--quiet", "-m", "first");
      await writeFile(join(workspace.workingDirectory, "b.txt"), "b");
      const work = await on("a").checkpointWork({ runId, workspace, gateway: anIdleGateway() });
      await repositories.commit("acme/fresh", { "other.txt": "by another person" });

      const restored = await on("b").prepare(
        aPreparation(runId, { plan, stored: { checkpoint: work, work } }),
      );

      expect(await readFile(join(restored.workingDirectory, "b.txt"), "utf8")).toBe("b");
      expect(await runGit(restored.workingDirectory, ["log", "--format=%s", "main"])).toBe("first\n");
    });

    test("is no repository whose default branch alone is missing", async () => {
      await repositories.commit("acme/fresh", { "a.txt": "a" });
      await runGit(repositories.pathOf("acme/fresh"), ["branch", "--move", "main", "other"]);
      await runGit(repositories.pathOf("acme/fresh"), ["symbolic-ref", "HEAD", "refs/heads/gone"]);
      const preparation = aPreparation(newId<RunId>(new Date()), { plan: { repositories: [FRESH] } });

      const failed = aWorkspaceProvider(root, { gitUrl: server.url }).prepare(preparation);

      await expect(failed).rejects.toThrow("acme/fresh cannot be cloned: it has no default branch.");
    });
  },
);
