import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { ChangeHarness } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";

const TOOLS = { owner: "acme", name: "tools" };
const PUSH = { repository: TOOLS, branch: "errand/abc", message: "m" };
const HOOKS = [
  ...["applypatch-msg", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push"],
  ...["reference-transaction", "post-index-change", "fsmonitor-watchman", "post-checkout"],
];

const noGit = reasonToSkipGit();
const noBubblewrap = await reasonToSkipBubblewrap();
const sandboxes = [
  { name: "local", skipped: noGit, isolated: false, make: () => createLocalSandbox(tmpdir()) },
  { name: "bubblewrap", skipped: noGit ?? noBubblewrap, isolated: true, make: () => bubblewrapIn(tmpdir()) },
];

describe.each(sandboxes)(
  "a repository that its agent manipulated, in the $name sandbox",
  ({ isolated, make, skipped }) => {
    describe.skipIf(skipped !== undefined)(skipped ?? "", () => {
      let repositories: GitRepositories;
      let server: GitHttpServer;
      let opened: GatewayHarness;
      let harness: ChangeHarness;
      /** Returns a shell command that leaves a file with this name in the workspace. */
      let tell: (name: string) => string;

      beforeAll(async () => {
        repositories = await GitRepositories.create();
        server = await GitHttpServer.start(repositories.root);
      });
      afterAll(async () => {
        await server.stop();
        await repositories.remove();
      });
      async function open(): Promise<string> {
        await repositories.commit("acme/tools", { "a.txt": "one\n", "b.txt": "two\n" });
        const grant = { repositories: [{ ...TOOLS, push: true }] };
        opened = await openGateway({ isolated, gitUrl: server.url, grant });
        const { gateway } = opened;
        harness = await ChangeHarness.open({
          gitUrl: server.url,
          sandbox: make(),
          repositories: [TOOLS],
          gateway,
        });
        tell = (name) => `sh -c 'touch ${harness.workspace.directory}/ran-${name}; cat' --`;
        return harness.workspace.workingDirectory;
      }
      afterEach(async () => {
        await harness.close();
        await opened.close();
      });

      async function useAll(): Promise<unknown> {
        await harness.changes.mark(harness.site);
        await writeFile(join(harness.workspace.workingDirectory, "a.txt"), "changed\n");
        const found = await harness.changes.diff(harness.site, "mark");
        await harness.changes.push(harness.site, PUSH);
        return found;
      }

      async function ran(): Promise<readonly string[]> {
        return (await readdir(harness.workspace.directory)).filter((name) => name.startsWith("ran-"));
      }

      test("no hook, monitor, diff driver or credential helper of the repository is run", async () => {
        const place = await open();
        for (const directory of ["hooks", "other-hooks"]) {
          await mkdir(join(place, ".git", directory), { recursive: true });
          for (const name of HOOKS) {
            const hook = join(place, ".git", directory, name);
            await writeFile(hook, `#!/bin/sh\n${tell(name)} </dev/null\n`);
            await chmod(hook, 0o755);
          }
        }
        const settings = {
          "core.hooksPath": ".git/other-hooks",
          "core.fsmonitor": tell("fsmonitor"),
          "core.pager": tell("pager"),
          "core.editor": tell("editor"),
          "core.askPass": tell("askpass"),
          "core.sshCommand": tell("ssh"),
          "core.worktree": "/etc",
          "credential.helper": `!${tell("credentials")}`,
          "commit.gpgSign": "true",
          "push.gpgSign": "true",
          "gpg.program": tell("gpg"),
          "diff.external": tell("external"),
          "diff.evil.command": tell("driver"),
          "diff.evil.textconv": tell("textconv"),
          "diff.noprefix": "true",
          "push.recurseSubmodules": "on-demand",
          "push.followTags": "true",
          "protocol.ext.allow": "always",
          "submodule.evil.url": `ext::${tell("submodule")}`,
          "submodule.evil.update": `!${tell("update")}`,
        };
        for (const [key, value] of Object.entries(settings)) {
          await harness.git("config", key, value);
        }
        await writeFile(join(place, ".gitattributes"), "*.txt diff=evil\n");
        await writeFile(
          join(place, ".gitmodules"),
          `[submodule "evil"]\npath = evil\nurl = ext::${tell("module")}\n`,
        );

        const found = await useAll();

        expect(found).toMatchObject([{ filesChanged: 1, isCut: false }]);
        expect(JSON.stringify(found)).not.toContain("passwd");
        expect(await ran()).toEqual([]);
        expect(opened.gateway.traffic.pushes).toMatchObject([{ branch: PUSH.branch }]);
      });

      test.each(["insteadOf", "pushInsteadOf"])(
        "the setting %s cannot redirect a push to a program",
        async (setting) => {
          const place = await open();
          const program = join(harness.workspace.directory, "program");
          await writeFile(program, `#!/bin/sh\n${tell("program")} </dev/null\n`, { mode: 0o755 });
          await harness.git("config", "protocol.ext.allow", "always");
          await harness.git("config", `url.ext::${program} .${setting}`, `${server.url}/acme`);
          await writeFile(join(place, "a.txt"), "changed\n");

          await harness.changes.push(harness.site, PUSH).catch(() => undefined);

          expect(await ran()).toEqual([]);
        },
      );

      if (isolated) {
        test("a filter of the repository cannot read or write files of the host", async () => {
          const place = await open();
          await writeFile(join(harness.root, "ours.txt"), "canary of the host");
          await harness.git(
            ...["config", "filter.evil.clean"],
            `cat; cat ${harness.root}/ours.txt; touch ${harness.root}/escaped /tmp/errand-escaped; ls ${harness.root}`,
          );
          await writeFile(join(place, ".gitattributes"), "*.txt filter=evil\n");

          const found = await useAll();

          const [diff] = found as readonly { patch: Uint8Array }[];
          expect(Buffer.from(diff?.patch ?? "").toString()).not.toContain("canary of the host");
          expect(await readdir(harness.root)).not.toContain("escaped");
          expect(await readdir("/tmp")).not.toContain("errand-escaped");
        });

        test.each(["link", "file", "alternates"])(
          "a repository cannot point to a repository of the host by a %s",
          async (way) => {
            const place = await open();
            const secret = join(harness.root, "host-repository");
            await rename(join(place, ".git"), join(harness.root, "moved"));
            await mkdir(secret);
            await rename(join(harness.root, "moved"), join(secret, ".git"));
            if (way === "link") {
              await symlink(join(secret, ".git"), join(place, ".git"));
            }
            if (way === "file") {
              await writeFile(join(place, ".git"), `gitdir: ${join(secret, ".git")}\n`);
            }
            if (way === "alternates") {
              await mkdir(join(place, ".git/objects/info"), { recursive: true });
              await mkdir(join(place, ".git/refs"));
              await writeFile(join(place, ".git/HEAD"), "ref: refs/heads/main\n");
              await writeFile(
                join(place, ".git/objects/info/alternates"),
                `${join(secret, ".git/objects")}\n`,
              );
            }

            await expect(harness.changes.diff(harness.site, "clone")).rejects.toMatchObject({
              code: "operation_not_supported",
            });
          },
        );

        test("a link in place of the repository does not expose files of the host", async () => {
          const place = await open();
          await rename(place, join(harness.root, "host-repository"));
          await symlink(join(harness.root, "host-repository"), place);

          await expect(harness.changes.diff(harness.site, "clone")).rejects.toMatchObject({
            code: "operation_not_supported",
          });
        });
      }

      test("git is aborted when a filter of the repository never ends", async () => {
        const place = await open();
        await harness.close();
        harness = await ChangeHarness.open({
          ...{ gitUrl: server.url, sandbox: make(), repositories: [TOOLS], gateway: opened.gateway },
          limits: { lookMs: 500 },
        });
        await harness.git("config", "filter.slow.clean", "sleep 600");
        await writeFile(join(harness.workspace.workingDirectory, ".gitattributes"), "*.txt filter=slow\n");
        await writeFile(join(harness.workspace.workingDirectory, "a.txt"), "x");

        await expect(harness.changes.mark(harness.site)).rejects.toMatchObject({
          message: expect.stringContaining("not found in time"),
        });
        void place;
      });

      test("nested repositories, names that look like options and a circular link do not prevent a diff", async () => {
        const place = await open();
        await mkdir(join(place, "nested/.git"), { recursive: true });
        await mkdir(join(place, "--upload-pack=x"));
        for (const name of ["--upload-pack=x/-rf", "-n", "new\nline", '"quoted"', "\\back", ":(top)x"]) {
          await writeFile(join(place, name), "x");
        }
        await symlink("loop", join(place, "loop"));
        await harness.git("config", "core.bare", "true");

        const [diff] = await harness.changes.diff(harness.site, "clone");

        expect(diff?.filesChanged).toBe(7);
        expect(diff?.isCut).toBe(false);
      });

      test("corrupt refs and a corrupt index cause at most an error, and the index is left as it is", async () => {
        const place = await open();
        await rm(join(place, ".git/refs/errand"), { recursive: true, force: true });
        await writeFile(join(place, ".git/packed-refs"), "garbage\n");
        await writeFile(join(place, ".git/index"), "garbage");
        await writeFile(join(place, "a.txt"), "changed\n");

        const found = await harness.changes.diff(harness.site, "clone").catch((error) => error);

        expect(Array.isArray(found) || found.code === "operation_not_supported").toBe(true);
        expect(await readFile(join(place, ".git/index"), "utf8")).toBe("garbage");
      });
    });
  },
);
