import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RepositoryDiff } from "../../../src/core/ports/change-tracker.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { ChangeHarness, type ChangeHarnessOptions, runGit } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";

const FILES = {
  "kept.txt": "kept\n",
  "changed.txt": "one\ntwo\nthree\n",
  "gone.txt": "gone\n",
  "old name.txt": `${"a line that stays\n".repeat(20)}`,
  ".gitignore": "ignored/\n",
};
const TOKEN = "Basic dG9rZW4tb2YtdGhlLWFwcA==";
const TOOLS = { owner: "acme", name: "tools" };

const noGit = reasonToSkipGit();
const noBubblewrap = await reasonToSkipBubblewrap();
const sandboxes = [
  { name: "local", skipped: noGit, isolated: false, make: () => createLocalSandbox(tmpdir()) },
  { name: "bubblewrap", skipped: noGit ?? noBubblewrap, isolated: true, make: () => bubblewrapIn(tmpdir()) },
];

describe.each(sandboxes)(
  "changes of a workspace, determined by git in the $name sandbox",
  ({ isolated, make, skipped }) => {
    describe.skipIf(skipped !== undefined)(skipped ?? "", () => {
      let repositories: GitRepositories;
      const openHarnesses: ChangeHarness[] = [];

      beforeAll(async () => {
        repositories = await GitRepositories.create();
        await repositories.commit("acme/tools", FILES);
        await repositories.commit("acme/other", { "file.txt": "x\n" });
      });
      afterAll(() => repositories.remove());
      afterEach(async () => {
        for (const harness of openHarnesses.splice(0)) {
          await harness.close();
        }
      });

      async function open(changes: Partial<ChangeHarnessOptions> = {}): Promise<ChangeHarness> {
        const own = { gitUrl: repositories.fileUrl, sandbox: make(), repositories: [TOOLS], ...changes };
        const harness = await ChangeHarness.open(own);
        openHarnesses.push(harness);
        return harness;
      }

      /** Applies the patch to a fresh clone with `git apply` and returns the clone. */
      async function applyPatch(harness: ChangeHarness, diff: RepositoryDiff | undefined): Promise<string> {
        const clone = await mkdtemp(join(tmpdir(), "errand-applied-"));
        await runGit("/", ["clone", "--quiet", repositories.pathOf("acme/tools"), clone]);
        await writeFile(join(harness.root, "patch"), diff?.patch ?? "");
        await runGit(clone, ["apply", join(harness.root, "patch")]);
        await rm(join(clone, ".git"), { recursive: true });
        return clone;
      }

      test("a turn's patch contains every change of the turn and can be applied to a clone", async () => {
        const harness = await open();
        const workingDirectory = harness.workspace.workingDirectory;
        await harness.changes.takeSnapshot(harness.runWorkspace);
        await writeFile(join(workingDirectory, "changed.txt"), "one\n2\nthree\n");
        await unlink(join(workingDirectory, "gone.txt"));
        await rename(join(workingDirectory, "old name.txt"), join(workingDirectory, "größe.txt"));
        await mkdir(join(workingDirectory, "new/deep"), { recursive: true });
        await writeFile(join(workingDirectory, "new/deep/-file"), "new");
        await writeFile(join(workingDirectory, "image.bin"), Buffer.from([0, 1, 2, 255, 0, 10]));
        await symlink("/etc/passwd", join(workingDirectory, "link"));
        await mkdir(join(workingDirectory, "ignored"));
        await writeFile(join(workingDirectory, "ignored/secret"), "x");
        await harness.git("add", "changed.txt");

        const [diff, ...others] = (await harness.changes.diff(harness.runWorkspace, "snapshot")).diffs;

        expect(others).toEqual([]);
        expect(diff).toMatchObject({ repository: TOOLS, isCut: false, filesChanged: 6 });
        const clone = await applyPatch(harness, diff);
        await cp(workingDirectory, join(harness.root, "copy"), { recursive: true, verbatimSymlinks: true });
        await rm(join(harness.root, "copy/.git"), { recursive: true });
        await rm(join(harness.root, "copy/ignored"), { recursive: true });
        expect(await filesOf(clone)).toEqual(await filesOf(join(harness.root, "copy")));
        await rm(clone, { recursive: true });
      });

      test("changes are computed since the snapshot or since the clone, whether committed or not", async () => {
        const harness = await open();
        const workingDirectory = harness.workspace.workingDirectory;
        await writeFile(join(workingDirectory, "first.txt"), "1");
        await harness.git("add", "-A");
        await harness.git("commit", "--quiet", "-m", "first");
        await harness.changes.takeSnapshot(harness.runWorkspace);
        await writeFile(join(workingDirectory, "second.txt"), "2");
        await harness.git("add", "-A");
        await harness.git("commit", "--quiet", "-m", "second");

        const [turn] = (await harness.changes.diff(harness.runWorkspace, "snapshot")).diffs;
        const [all] = (await harness.changes.diff(harness.runWorkspace, "clone")).diffs;

        expect(turn?.filesChanged).toBe(1);
        expect(all?.filesChanged).toBe(2);
        await harness.changes.takeSnapshot(harness.runWorkspace);
        expect(await harness.changes.diff(harness.runWorkspace, "snapshot")).toEqual({
          diffs: [],
          leftOut: [],
        });
      });

      test("computing changes leaves the index, the working tree and the objects of the repository unchanged", async () => {
        const harness = await open();
        const workingDirectory = harness.workspace.workingDirectory;
        await writeFile(join(workingDirectory, "untracked.txt"), "x");
        await writeFile(join(workingDirectory, "changed.txt"), "other\n");
        await harness.git("add", "changed.txt");
        const before = [await harness.git("status", "--porcelain"), await harness.git("count-objects", "-v")];

        await harness.changes.takeSnapshot(harness.runWorkspace);
        await harness.changes.diff(harness.runWorkspace, "clone");

        expect([
          await harness.git("status", "--porcelain"),
          await harness.git("count-objects", "-v"),
        ]).toEqual(before);
      });

      // Without isolation the process may be that of root, which reads everything.
      test.skipIf(!isolated)(
        "files and folders that cannot be read are named and left out of the patch, which is not cut",
        async () => {
          const harness = await open();
          const workingDirectory = harness.workspace.workingDirectory;
          await mkdir(join(workingDirectory, "closed"));
          await writeFile(join(workingDirectory, "closed/file.txt"), "x");
          await chmod(join(workingDirectory, "closed"), 0);
          await writeFile(join(workingDirectory, "locked.txt"), "x");
          await chmod(join(workingDirectory, "locked.txt"), 0);
          await harness.changes.takeSnapshot(harness.runWorkspace);
          await writeFile(join(workingDirectory, "new.txt"), "x");

          const { diffs, leftOut } = await harness.changes.diff(harness.runWorkspace, "clone");

          expect(diffs).toMatchObject([{ isCut: false, filesChanged: 1, files: [{ path: "new.txt" }] }]);
          expect(leftOut).toEqual([
            { repository: TOOLS, reason: "unreadable", path: "locked.txt" },
            { repository: TOOLS, reason: "unreadable", path: "closed/" },
          ]);
        },
      );

      test("each changed repository has its own diff, and unchanged repositories have none", async () => {
        const other = { owner: "acme", name: "other" };
        const harness = await open({ repositories: [TOOLS, other] });
        await harness.changes.takeSnapshot(harness.runWorkspace);
        await writeFile(join(harness.workspace.directory, "other/file.txt"), "y\n");

        const { diffs } = await harness.changes.diff(harness.runWorkspace, "snapshot");

        expect(diffs).toMatchObject([{ repository: other, filesChanged: 1 }]);
        // A broken repository does not prevent the diff of the other one.
        await rm(join(harness.workspace.directory, "tools"), { recursive: true });
        expect((await harness.changes.diff(harness.runWorkspace, "snapshot")).diffs).toHaveLength(1);
      });

      test("a patch over the size limit is cut between files and marked as cut", async () => {
        const harness = await open({ limits: { patchBytes: 3_000 } });
        const workingDirectory = harness.workspace.workingDirectory;
        await writeFile(join(workingDirectory, "a.txt"), "a\n".repeat(500));
        await writeFile(join(workingDirectory, "b.txt"), "b\n".repeat(5_000));

        const [diff] = (await harness.changes.diff(harness.runWorkspace, "clone")).diffs;

        expect(diff).toMatchObject({ isCut: true, filesChanged: 2 });
        const clone = await applyPatch(harness, diff);
        expect(await filesOf(clone)).toContainEqual(["a.txt", expect.stringContaining("a\na\n")]);
        await rm(clone, { recursive: true });
      });

      test("new files of more than 10 MiB are named and left out of the patch, which is not cut", async () => {
        const harness = await open();
        const workingDirectory = harness.workspace.workingDirectory;
        await writeFile(join(workingDirectory, "huge [1]*.bin"), Buffer.alloc(11 * 2 ** 20));
        await writeFile(join(workingDirectory, "small.txt"), "x");

        const { diffs, leftOut } = await harness.changes.diff(harness.runWorkspace, "clone");

        expect(diffs).toMatchObject([{ isCut: false, filesChanged: 1 }]);
        expect(leftOut).toEqual([{ repository: TOOLS, reason: "large", path: "huge [1]*.bin" }]);
      });

      test("the diff of a repository that was removed from the workspace fails with an error that names it", async () => {
        const harness = await open();
        await rm(join(harness.workspace.workingDirectory, ".git"), { recursive: true });

        await expect(harness.changes.diff(harness.runWorkspace, "clone")).rejects.toMatchObject({
          code: "operation_not_supported",
          message: expect.stringContaining("acme/tools is no longer in the workspace"),
        });
      });

      describe("pushing changes", () => {
        let server: GitHttpServer;
        const gateways: GatewayHarness[] = [];
        beforeAll(async () => {
          server = await GitHttpServer.start(repositories.root, TOKEN);
        });
        afterAll(() => server.stop());
        afterEach(async () => {
          for (const each of gateways.splice(0)) {
            await each.close();
          }
        });

        const push = { repository: TOOLS, branch: "errand/abc", message: "What was done\n\n# kept" };
        const lastPushed = (format: string, branch = "errand/abc") =>
          runGit(repositories.pathOf("acme/tools"), ["log", "-1", `--format=${format}`, branch]);

        async function openToPush(canPush = true): Promise<ChangeHarness> {
          const grant = { repositories: [{ ...TOOLS, push: canPush }] };
          const authorize = async () => TOKEN;
          const gatewayHarness = await openGateway({ isolated, gitUrl: server.url, authorize, grant });
          gateways.push(gatewayHarness);
          const { gateway } = gatewayHarness;
          return open({ gitUrl: server.url, authorization: TOKEN, gateway });
        }

        test("a push commits the changes and lands on its branch exactly once, with the gateway's key", async () => {
          const harness = await openToPush();
          const workingDirectory = harness.workspace.workingDirectory;
          await writeFile(join(workingDirectory, "new.txt"), "new");
          await harness.git("rm", "--quiet", "gone.txt");

          const first = await harness.changes.push(harness.runWorkspace, push);
          const again = await harness.changes.push(harness.runWorkspace, push);

          const head = (await harness.git("rev-parse", "HEAD")).trim();
          const pushed = { ...TOOLS, branch: "errand/abc", commit: head };
          expect(first).toEqual({ pushed, subject: "What was done" });
          expect(again).toEqual(first);
          expect(await lastPushed("%an <%ae>|%s|%b")).toContain(
            "Errand <errand@users.noreply.invalid>|What was done|# kept",
          );
          expect(await lastPushed("%H", "errand/abc~1")).toBe(await lastPushed("%H", "main"));
          expect(await harness.git("status", "--porcelain")).toBe("");
          expect(harness.runWorkspace.gateway.traffic.pushes).toHaveLength(1);
        });

        test("a later push updates the run's branch, even if the agent rewrote its commits", async () => {
          const harness = await openToPush();
          const workingDirectory = harness.workspace.workingDirectory;
          await writeFile(join(workingDirectory, "new.txt"), "1");
          await harness.changes.push(harness.runWorkspace, push);
          await harness.git("reset", "--quiet", "--hard", "HEAD~1");
          await writeFile(join(workingDirectory, "new.txt"), "2");

          const moved = await harness.changes.push(harness.runWorkspace, push);

          expect((await lastPushed("%H")).trim()).toBe(moved?.pushed.commit);
        });

        test("a push says what the agent wrote into its first commit", async () => {
          const harness = await openToPush();
          const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
          for (const subject of [`Read tokens in one pass ${"x".repeat(400)}`, "Fix a typo"]) {
            await harness.git(...identity, "commit", "--quiet", "--allow-empty", "-m", subject);
          }
          await writeFile(join(harness.workspace.workingDirectory, "new.txt"), "new");

          const work = await harness.changes.push(harness.runWorkspace, push);

          expect(work?.subject).toMatch(/^Read tokens in one pass x+$/);
          expect(work?.subject).toHaveLength(300);
        });

        test("a push says what the agent committed after a commit by the platform", async () => {
          const harness = await openToPush();
          await writeFile(join(harness.workspace.workingDirectory, "new.txt"), "new");
          await harness.changes.push(harness.runWorkspace, push);
          const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
          await harness.git(...identity, "commit", "--quiet", "--allow-empty", "-m", '-x and "more"');

          const work = await harness.changes.push(harness.runWorkspace, push);

          expect(work?.subject).toBe('-x and "more"');
        });

        test("a push signs off the commits of the run for their authors, once, and leaves merges as they are", async () => {
          const harness = await openToPush();
          const { workingDirectory } = harness.workspace;
          const as = (name: string) => ["-c", `user.name=${name}`, "-c", `user.email=${name}@example.com`];
          const commit = (name: string, message: string) =>
            harness.git(
              ...as(name),
              "commit",
              "--quiet",
              "--allow-empty",
              "-m",
              message,
              "--date",
              "2020-01-02T03:04:05Z",
            );
          await commit("ann", "one");
          await harness.git("checkout", "--quiet", "-b", "side");
          await commit("bob", "side\n\nA line.\n---\nAnother.");
          await harness.git("checkout", "--quiet", "-");
          await commit("ann", "two\n\nCo-authored-by: bob <bob@example.com>");
          await harness.git(...as("ann"), "merge", "--quiet", "--no-edit", "--no-ff", "side");
          await commit("bob", "three\n\nSigned-off-by: bob <bob@example.com>");
          await writeFile(join(workingDirectory, "new.txt"), "new");

          const signing = { ...push, branch: "errand/signed", signsOff: true };
          const first = await harness.changes.push(harness.runWorkspace, signing);
          const again = await harness.changes.push(harness.runWorkspace, signing);

          const path = repositories.pathOf("acme/tools");
          const log = await runGit(path, [
            "log",
            "--topo-order",
            "--format=%an|%at|%p|%B%x00",
            "main..errand/signed",
          ]);
          const commits = log.split("\0\n").map((each) => {
            const [author, at, parents = "", message = ""] = each.trim().split("|");
            const signed = [...message.matchAll(/^Signed-off-by: (.*)$/gm)].map(([, who]) => who);
            return {
              author,
              at,
              parents: parents.split(" ").length,
              subject: message.split("\n")[0],
              signed,
            };
          });
          const at = "1577934245";
          const byBob = ["bob <bob@example.com>"];
          const byAnn = ["ann <ann@example.com>"];
          expect(commits.slice(1, -1)).toEqual([
            { author: "bob", at, parents: 1, subject: "three", signed: byBob },
            expect.objectContaining({ parents: 2, signed: [] }),
            ...[
              { author: "bob", at, parents: 1, subject: "side", signed: byBob },
              { author: "ann", at, parents: 1, subject: "two", signed: byAnn },
            ],
            { author: "ann", at, parents: 1, subject: "one", signed: byAnn },
          ]);
          expect(commits[0]).toMatchObject({
            subject: "What was done",
            signed: ["Errand <errand@users.noreply.invalid>"],
          });
          expect(again).toEqual(first);
          expect((await harness.git("rev-parse", "HEAD")).trim()).toBe(first?.pushed.commit);
          expect(await harness.git("status", "--porcelain")).toBe("");
          await runGit(path, ["fsck", "--strict"]);
        });

        test("a push that would remove commits from the default branch is rejected", async () => {
          const harness = await openToPush();
          const before = await lastPushed("%H", "main");
          await harness.git("reset", "--quiet", "--hard", "HEAD");
          await harness.git("commit", "--quiet", "--amend", "-m", "rewritten");

          const pushing = harness.changes.push(harness.runWorkspace, { ...push, branch: "main" });

          await expect(pushing).rejects.toMatchObject({ code: "operation_not_supported" });
          expect(await lastPushed("%H", "main")).toBe(before);
        });

        test("a push to a branch of other people never removes their commits", async () => {
          const harness = await openToPush();
          const file = join(harness.workspace.workingDirectory, "new.txt");
          const shared = { ...push, branch: "feature", isShared: true } as const;
          await writeFile(file, "1");
          await harness.changes.push(harness.runWorkspace, shared);
          const theirs = await lastPushed("%H", "feature");
          await harness.git("reset", "--quiet", "--hard", "HEAD~1");
          await writeFile(file, "2");

          const pushing = harness.changes.push(harness.runWorkspace, shared);

          await expect(pushing).rejects.toMatchObject({ code: "operation_not_supported" });
          expect(await lastPushed("%H", "feature")).toBe(theirs);
        });

        test("a push without any changes does nothing", async () => {
          const harness = await openToPush();

          expect(
            await harness.changes.push(harness.runWorkspace, { ...push, branch: "errand/none" }),
          ).toBeUndefined();

          expect(harness.runWorkspace.gateway.traffic.pushes).toEqual([]);
        });

        test("a push of a run without permission to push is rejected with a readable error", async () => {
          const harness = await openToPush(false);
          await writeFile(join(harness.workspace.workingDirectory, "new.txt"), "new");

          await expect(
            harness.changes.push(harness.runWorkspace, { ...push, branch: "errand/no" }),
          ).rejects.toMatchObject({
            code: "operation_not_supported",
            message: expect.stringContaining("could not be pushed"),
          });
        });
      });

      test("a workspace without repositories has no changes and pushes nothing", async () => {
        const harness = await open({ repositories: [] });

        await harness.changes.takeSnapshot(harness.runWorkspace);

        expect(await harness.changes.diff(harness.runWorkspace, "snapshot")).toEqual({
          diffs: [],
          leftOut: [],
        });
        expect(
          await harness.changes.push(harness.runWorkspace, { repository: TOOLS, branch: "b", message: "m" }),
        ).toBe(undefined);
      });
    });
  },
);

test.skipIf(noGit !== undefined)(
  "without git in the image the error says so and names a remedy",
  async () => {
    const repositories = await GitRepositories.create();
    await repositories.commit("acme/tools", FILES);
    const local = createLocalSandbox(tmpdir());
    // This sandbox behaves like an image without git.
    const sandbox: Sandbox = {
      ...local,
      spawn: (command) => local.spawn({ ...command, env: { ...command.env, PATH: "/nonexistent" } }),
    };
    const harness = await ChangeHarness.open({
      gitUrl: repositories.fileUrl,
      sandbox,
      repositories: [TOOLS],
    });

    await expect(harness.changes.takeSnapshot(harness.runWorkspace)).rejects.toMatchObject({
      code: "operation_not_supported",
      message: "There is no git where the run works.",
      options: { remedy: "Put git into the environment's image." },
    });

    await harness.close();
    await repositories.remove();
  },
);

/** Returns the path and content of each file. The content of a link is its target. */
async function filesOf(directory: string): Promise<readonly (readonly [string, string])[]> {
  const script =
    'find . -type f -o -type l | sort | while read -r f; do printf "%s=" "$f"; if [ -L "$f" ]; then readlink "$f"; else base64 -w0 "$f"; echo; fi; done';
  const child = spawn("sh", ["-c", script], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  const lines = Buffer.concat(chunks).toString().trim().split("\n");
  return lines.map((line) => {
    const [name = "", value = ""] = line.split(/=(.*)/s);
    const isText = /^[A-Za-z0-9+/=]*$/.test(value) && !value.startsWith("/");
    return [name.slice(2), isText ? Buffer.from(value, "base64").toString("latin1") : value] as const;
  });
}
