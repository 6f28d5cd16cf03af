import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RepositoryDiff } from "../../../src/core/ports/changes.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { ChangeBench, type ChangeBenchOptions, runGit } from "../../support/change-bench.ts";
import { type GatewayBench, openGateway } from "../../support/gateway-bench.ts";
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

describe.each(sandboxes)("changes, told by git in the $name sandbox", ({ isolated, make, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? "", () => {
    let repositories: GitRepositories;
    const benches: ChangeBench[] = [];

    beforeAll(async () => {
      repositories = await GitRepositories.create();
      await repositories.commit("acme/tools", FILES);
      await repositories.commit("acme/other", { "file.txt": "x\n" });
    });
    afterAll(() => repositories.remove());
    afterEach(async () => {
      for (const bench of benches.splice(0)) await bench.close();
    });

    async function open(changes: Partial<ChangeBenchOptions> = {}): Promise<ChangeBench> {
      const own = { gitUrl: repositories.fileUrl, sandbox: make(), repositories: [TOOLS], ...changes };
      const bench = await ChangeBench.open(own);
      benches.push(bench);
      return bench;
    }

    /** What \`git apply\` makes of the patch on a clone of what there was. */
    async function applied(bench: ChangeBench, diff: RepositoryDiff | undefined): Promise<string> {
      const clone = await mkdtemp(join(tmpdir(), "errand-applied-"));
      await runGit("/", ["clone", "--quiet", repositories.pathOf("acme/tools"), clone]);
      await writeFile(join(bench.root, "patch"), diff?.patch ?? "");
      await runGit(clone, ["apply", join(bench.root, "patch")]);
      await rm(join(clone, ".git"), { recursive: true });
      return clone;
    }

    test("are all that a turn did, in a patch that can be applied", async () => {
      const bench = await open();
      const place = bench.workspace.workingDirectory;
      await bench.changes.mark(bench.site);
      await writeFile(join(place, "changed.txt"), "one\n2\nthree\n");
      await unlink(join(place, "gone.txt"));
      await rename(join(place, "old name.txt"), join(place, "größe.txt"));
      await mkdir(join(place, "new/deep"), { recursive: true });
      await writeFile(join(place, "new/deep/-file"), "new");
      await writeFile(join(place, "image.bin"), Buffer.from([0, 1, 2, 255, 0, 10]));
      await symlink("/etc/passwd", join(place, "link"));
      await mkdir(join(place, "ignored"));
      await writeFile(join(place, "ignored/secret"), "x");
      await bench.git("add", "changed.txt");

      const [diff, ...others] = await bench.changes.diff(bench.site, "mark");

      expect(others).toEqual([]);
      expect(diff).toMatchObject({ repository: TOOLS, isCut: false, filesChanged: 6 });
      const clone = await applied(bench, diff);
      await cp(place, join(bench.root, "copy"), { recursive: true, verbatimSymlinks: true });
      await rm(join(bench.root, "copy/.git"), { recursive: true });
      await rm(join(bench.root, "copy/ignored"), { recursive: true });
      expect(await filesOf(clone)).toEqual(await filesOf(join(bench.root, "copy")));
      await rm(clone, { recursive: true });
    });

    test("are told since the mark, or since the clone; commits are no end to them", async () => {
      const bench = await open();
      const place = bench.workspace.workingDirectory;
      await writeFile(join(place, "first.txt"), "1");
      await bench.git("add", "-A");
      await bench.git("commit", "--quiet", "-m", "first");
      await bench.changes.mark(bench.site);
      await writeFile(join(place, "second.txt"), "2");
      await bench.git("add", "-A");
      await bench.git("commit", "--quiet", "-m", "second");

      const [turn] = await bench.changes.diff(bench.site, "mark");
      const [all] = await bench.changes.diff(bench.site, "clone");

      expect(turn?.filesChanged).toBe(1);
      expect(all?.filesChanged).toBe(2);
      await bench.changes.mark(bench.site);
      expect(await bench.changes.diff(bench.site, "mark")).toEqual([]);
    });

    test("leave index, work and objects of the repository as they are", async () => {
      const bench = await open();
      const place = bench.workspace.workingDirectory;
      await writeFile(join(place, "untracked.txt"), "x");
      await writeFile(join(place, "changed.txt"), "other\n");
      await bench.git("add", "changed.txt");
      const before = [await bench.git("status", "--porcelain"), await bench.git("count-objects", "-v")];

      await bench.changes.mark(bench.site);
      await bench.changes.diff(bench.site, "clone");

      expect([await bench.git("status", "--porcelain"), await bench.git("count-objects", "-v")]).toEqual(
        before,
      );
    });

    test("of several repositories are each told for itself, and those without any are not", async () => {
      const other = { owner: "acme", name: "other" };
      const bench = await open({ repositories: [TOOLS, other] });
      await bench.changes.mark(bench.site);
      await writeFile(join(bench.workspace.directory, "other/file.txt"), "y\n");

      const found = await bench.changes.diff(bench.site, "mark");

      expect(found).toMatchObject([{ repository: other, filesChanged: 1 }]);
      // One that is broken does not keep the other's from being told.
      await rm(join(bench.workspace.directory, "tools"), { recursive: true });
      expect(await bench.changes.diff(bench.site, "mark")).toHaveLength(1);
    });

    test("over the bound are cut between files, and say so", async () => {
      const bench = await open({ limits: { patchBytes: 3_000 } });
      const place = bench.workspace.workingDirectory;
      await writeFile(join(place, "a.txt"), "a\n".repeat(500));
      await writeFile(join(place, "b.txt"), "b\n".repeat(5_000));

      const [diff] = await bench.changes.diff(bench.site, "clone");

      expect(diff).toMatchObject({ isCut: true, filesChanged: 2 });
      const clone = await applied(bench, diff);
      expect(await filesOf(clone)).toContainEqual(["a.txt", expect.stringContaining("a\na\n")]);
      await rm(clone, { recursive: true });
    });

    test("leave new files of more than 10 MiB out, and say so", async () => {
      const bench = await open();
      const place = bench.workspace.workingDirectory;
      await writeFile(join(place, "huge [1]*.bin"), Buffer.alloc(11 * 2 ** 20));
      await writeFile(join(place, "small.txt"), "x");

      const [diff] = await bench.changes.diff(bench.site, "clone");

      expect(diff).toMatchObject({ isCut: true, filesChanged: 1 });
    });

    test("cannot be told of a repository that is no longer there, and the reason is plain", async () => {
      const bench = await open();
      await rm(join(bench.workspace.workingDirectory, ".git"), { recursive: true });

      await expect(bench.changes.diff(bench.site, "clone")).rejects.toMatchObject({
        code: "operation_not_supported",
        message: expect.stringContaining("acme/tools is no longer in the workspace"),
      });
    });

    describe("pushed", () => {
      let server: GitHttpServer;
      const gateways: GatewayBench[] = [];
      beforeAll(async () => {
        server = await GitHttpServer.start(repositories.root, TOKEN);
      });
      afterAll(() => server.stop());
      afterEach(async () => {
        for (const each of gateways.splice(0)) await each.close();
      });

      const push = { repository: TOOLS, branch: "errand/abc", message: "What was done\n\n# kept" };
      const pushed = (format: string, branch = "errand/abc") =>
        runGit(repositories.pathOf("acme/tools"), ["log", "-1", `--format=${format}`, branch]);

      async function openToPush(canPush = true): Promise<ChangeBench> {
        const grant = { repositories: [{ ...TOOLS, push: canPush }] };
        const authorize = async () => TOKEN;
        const opened = await openGateway({ isolated, gitUrl: server.url, authorize, grant });
        gateways.push(opened);
        const { gateway } = opened;
        return open({ gitUrl: server.url, authorization: TOKEN, gateway });
      }

      test("are committed and land on their branch, once, by the gateway's key", async () => {
        const bench = await openToPush();
        const place = bench.workspace.workingDirectory;
        await writeFile(join(place, "new.txt"), "new");
        await bench.git("rm", "--quiet", "gone.txt");

        const first = await bench.changes.push(bench.site, push);
        const again = await bench.changes.push(bench.site, push);

        const head = (await bench.git("rev-parse", "HEAD")).trim();
        expect(first).toEqual({ ...TOOLS, branch: "errand/abc", commit: head });
        expect(again).toEqual(first);
        expect(await pushed("%an <%ae>|%s|%b")).toContain(
          "Errand <errand@users.noreply.invalid>|What was done|# kept",
        );
        expect(await pushed("%H", "errand/abc~1")).toBe(await pushed("%H", "main"));
        expect(await bench.git("status", "--porcelain")).toBe("");
        expect(bench.site.gateway.traffic.pushes).toHaveLength(1);
      });

      test("move the branch of the run along, also when the agent rewrote what it did", async () => {
        const bench = await openToPush();
        const place = bench.workspace.workingDirectory;
        await writeFile(join(place, "new.txt"), "1");
        await bench.changes.push(bench.site, push);
        await bench.git("reset", "--quiet", "--hard", "HEAD~1");
        await writeFile(join(place, "new.txt"), "2");

        const moved = await bench.changes.push(bench.site, push);

        expect((await pushed("%H")).trim()).toBe(moved?.commit);
      });

      test("take nothing away from the default branch", async () => {
        const bench = await openToPush();
        const before = await pushed("%H", "main");
        await bench.git("reset", "--quiet", "--hard", "HEAD");
        await bench.git("commit", "--quiet", "--amend", "-m", "rewritten");

        const pushing = bench.changes.push(bench.site, { ...push, branch: "main" });

        await expect(pushing).rejects.toMatchObject({ code: "operation_not_supported" });
        expect(await pushed("%H", "main")).toBe(before);
      });

      test("are nothing where nothing was done", async () => {
        const bench = await openToPush();

        expect(await bench.changes.push(bench.site, { ...push, branch: "errand/none" })).toBeUndefined();

        expect(bench.site.gateway.traffic.pushes).toEqual([]);
      });

      test("go nowhere when the run may not push, and the reason is plain", async () => {
        const bench = await openToPush(false);
        await writeFile(join(bench.workspace.workingDirectory, "new.txt"), "new");

        await expect(bench.changes.push(bench.site, { ...push, branch: "errand/no" })).rejects.toMatchObject({
          code: "operation_not_supported",
          message: expect.stringContaining("could not be pushed"),
        });
      });
    });

    test("of a workspace without repositories are none", async () => {
      const bench = await open({ repositories: [] });

      await bench.changes.mark(bench.site);

      expect(await bench.changes.diff(bench.site, "mark")).toEqual([]);
      expect(await bench.changes.push(bench.site, { repository: TOOLS, branch: "b", message: "m" })).toBe(
        undefined,
      );
    });
  });
});

test.skipIf(noGit !== undefined)(
  "where there is no git inside, the reason says so, and what to do",
  async () => {
    const repositories = await GitRepositories.create();
    await repositories.commit("acme/tools", FILES);
    const local = createLocalSandbox(tmpdir());
    // As an image without git.
    const sandbox: Sandbox = {
      ...local,
      spawn: (command) => local.spawn({ ...command, env: { ...command.env, PATH: "/nonexistent" } }),
    };
    const bench = await ChangeBench.open({ gitUrl: repositories.fileUrl, sandbox, repositories: [TOOLS] });

    await expect(bench.changes.mark(bench.site)).rejects.toMatchObject({
      code: "operation_not_supported",
      message: "There is no git where the run works.",
      options: { remedy: "Put git into the environment's image." },
    });

    await bench.close();
    await repositories.remove();
  },
);

/** Each file with what is in it; a link is what it says. */
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
