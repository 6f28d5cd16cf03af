import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { RestartRequest } from "../../../src/core/ports/change-tracker.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { ChangeHarness } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";

const TOOLS = { owner: "acme", name: "tools" };
const REQUEST: RestartRequest = {
  repository: TOOLS,
  teamId: "team-1" as TeamId,
  base: "main",
  branchNumber: 2,
  after: "https://git.example/acme/tools/pull/7",
};
const IDENTITY = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];

const noGit = reasonToSkipGit();
const noBubblewrap = await reasonToSkipBubblewrap();
const sandboxes = [
  { name: "local", skipped: noGit, isolated: false, make: () => createLocalSandbox(tmpdir()) },
  { name: "bubblewrap", skipped: noGit ?? noBubblewrap, isolated: true, make: () => bubblewrapIn(tmpdir()) },
];

describe.each(sandboxes)(
  "a repository that begins again in the $name sandbox",
  ({ isolated, make, skipped }) => {
    describe.skipIf(skipped !== undefined)(skipped ?? "", () => {
      let repositories: GitRepositories;
      let server: GitHttpServer;
      let gateway: GatewayHarness;
      let harness: ChangeHarness;

      beforeEach(async () => {
        repositories = await GitRepositories.create();
        await repositories.commit("acme/tools", {
          "kept.txt": "kept\n",
          "work.txt": "one\n",
          ".gitignore": "deps/\n",
        });
        server = await GitHttpServer.start(repositories.root);
        gateway = await openGateway({
          isolated,
          gitUrl: server.url,
          grant: { repositories: [{ ...TOOLS, push: true }] },
        });
        harness = await open(make());
      });
      afterEach(async () => {
        await harness.close();
        await gateway.close();
        await server.stop();
        await repositories.remove();
      });

      function open(sandbox: Sandbox): Promise<ChangeHarness> {
        return ChangeHarness.open({
          gitUrl: server.url,
          sandbox,
          repositories: [TOOLS],
          gateway: gateway.gateway,
          setupCommands: ["mkdir deps && echo installed > deps/package"],
        });
      }

      const at = (path: string) => join(harness.workspace.workingDirectory, path);
      const work = (branchNumber = 1) =>
        harness.changes.push(harness.runWorkspace, {
          ...{ repository: TOOLS, message: "Work" },
          branch: branchNumber === 1 ? "errand/a" : `errand/a-${branchNumber}`,
        });

      test("it has the files of the base, and only what is done next is a change", async () => {
        await writeFile(at("work.txt"), "one\ntwo\n");
        await writeFile(at("added.txt"), "added\n");
        await work();
        await writeFile(at("unpushed.txt"), "unpushed\n");
        await writeFile(at("deps/built"), "built\n");
        const squash = {
          "kept.txt": "kept\n",
          "work.txt": "one\ntwo\n",
          ".gitignore": "deps/\n",
          "other.txt": "other\n",
        };
        const commit = await repositories.commit("acme/tools", squash);

        const { changes, runWorkspace } = harness;
        expect(await changes.restart(runWorkspace, REQUEST)).toEqual({ base: "main", commit });
        await changes.takeSnapshot(runWorkspace);

        expect((await readdir(at("."))).sort()).toEqual([
          ".git",
          ".gitignore",
          "deps",
          "kept.txt",
          "other.txt",
          "work.txt",
        ]);
        expect(await readdir(at("deps"))).toEqual(["built", "package"]);
        expect(await changes.diff(runWorkspace, "clone")).toEqual({ diffs: [], leftOut: [] });
        expect(await harness.git("show", "refs/errand/before:unpushed.txt")).toBe("unpushed\n");
        expect(await harness.git("status", "--porcelain", "--branch")).toBe("## main...origin/main\n");

        await writeFile(at("next.txt"), "next\n");
        const [diff] = (await changes.diff(runWorkspace, "clone")).diffs;
        expect(diff).toMatchObject({ base: commit, files: [{ path: "next.txt" }] });
        expect((await work(2))?.pushed.branch).toBe("errand/a-2");
        expect((await repositories.diff("acme/tools", "errand/a-2")).match(/^\+\+\+ .*$/gm)).toEqual([
          "+++ b/next.txt",
        ]);
      });

      test("it begins again once for each pull request, and the record says which branch is next", async () => {
        const { changes, runWorkspace } = harness;
        expect(await changes.restartOf(runWorkspace, TOOLS)).toBeUndefined();
        await changes.restart(runWorkspace, REQUEST);
        await writeFile(at("next.txt"), "next\n");

        expect(await changes.restart(runWorkspace, REQUEST)).toBeUndefined();
        expect(await readFile(at("next.txt"), "utf8")).toBe("next\n");
        expect(await changes.restartOf(runWorkspace, TOOLS)).toMatchObject({ branchNumber: 2, base: "main" });

        const next = { ...REQUEST, after: "https://git.example/acme/tools/pull/9", branchNumber: 3 };
        expect(await changes.restart(runWorkspace, next)).toBeDefined();
        expect(await changes.restartOf(runWorkspace, TOOLS)).toMatchObject({ branchNumber: 3 });
      });

      test.each([
        ["on a branch", [["checkout", "-q", "-b", "side"]]],
        ["on a commit", [["checkout", "-q", "--detach"]]],
        ["in a merge with conflicts", [["merge", "-q", "other"]]],
        ["in a rebase with conflicts", [["rebase", "-q", "other"]]],
        ["with a base that was deleted", []],
      ] as const)("an agent that left it %s does not prevent it", async (where, commands) => {
        const git = (...args: readonly string[]) => harness.git(...IDENTITY, ...args);
        await git("checkout", "-q", "-b", "other");
        await writeFile(at("work.txt"), "other\n");
        await git("commit", "-qam", "Other");
        await git("checkout", "-q", "main");
        await writeFile(at("work.txt"), "mine\n");
        await git("commit", "-qam", "Mine");
        for (const command of commands) {
          await git(...command).catch(() => undefined);
        }
        const commit = await repositories.commit("acme/tools", {
          "work.txt": "squashed\n",
          ".gitignore": "deps/\n",
        });

        const base = where.includes("deleted") ? "release" : "main";
        await harness.changes.restart(harness.runWorkspace, { ...REQUEST, base });

        expect((await harness.git("rev-parse", "HEAD")).trim()).toBe(commit);
        expect(await readFile(at("work.txt"), "utf8")).toBe("squashed\n");
        expect(await harness.git("status", "--porcelain", "--branch")).toBe("## main...origin/main\n");
      });

      test("a host that does not answer changes nothing", async () => {
        await writeFile(at("work.txt"), "mine\n");
        await rm(repositories.pathOf("acme/tools"), { recursive: true });

        await expect(harness.changes.restart(harness.runWorkspace, REQUEST)).rejects.toThrow(/acme\/tools/);

        expect(await readFile(at("work.txt"), "utf8")).toBe("mine\n");
        expect(await harness.changes.restartOf(harness.runWorkspace, TOOLS)).toBeUndefined();
      });
    });
  },
);
