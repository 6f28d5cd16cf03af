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
      let gatewayHarness: GatewayHarness;
      let harness: ChangeHarness;
      /** Returns a shell command that leaves a file with this name in the workspace. */
      let traceCommand: (name: string) => string;

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
        gatewayHarness = await openGateway({ isolated, gitUrl: server.url, grant });
        const { gateway } = gatewayHarness;
        harness = await ChangeHarness.open({
          gitUrl: server.url,
          sandbox: make(),
          repositories: [TOOLS],
          gateway,
        });
        traceCommand = (name) => `sh -c 'touch ${harness.workspace.directory}/ran-${name}; cat' --`;
        return harness.workspace.workingDirectory;
      }
      afterEach(async () => {
        await harness.close();
        await gatewayHarness.close();
      });

      async function diffAndPush(): Promise<unknown> {
        await harness.changes.takeSnapshot(harness.runWorkspace);
        await writeFile(join(harness.workspace.workingDirectory, "a.txt"), "changed\n");
        const { diffs: result } = await harness.changes.diff(harness.runWorkspace, "snapshot");
        await harness.changes.push(harness.runWorkspace, PUSH);
        return result;
      }

      async function listTraces(): Promise<readonly string[]> {
        return (await readdir(harness.workspace.directory)).filter((name) => name.startsWith("ran-"));
      }

      test("no hook, monitor, diff driver or credential helper of the repository is run", async () => {
        const workingDirectory = await open();
        for (const directory of ["hooks", "other-hooks"]) {
          await mkdir(join(workingDirectory, ".git", directory), { recursive: true });
          for (const name of HOOKS) {
            const hook = join(workingDirectory, ".git", directory, name);
            await writeFile(hook, `#!/bin/sh\n${traceCommand(name)} </dev/null\n`);
            await chmod(hook, 0o755);
          }
        }
        const settings = {
          "core.hooksPath": ".git/other-hooks",
          "core.fsmonitor": traceCommand("fsmonitor"),
          "core.pager": traceCommand("pager"),
          "core.editor": traceCommand("editor"),
          "core.askPass": traceCommand("askpass"),
          "core.sshCommand": traceCommand("ssh"),
          "core.worktree": "/etc",
          "credential.helper": `!${traceCommand("credentials")}`,
          "commit.gpgSign": "true",
          "push.gpgSign": "true",
          "gpg.program": traceCommand("gpg"),
          "diff.external": traceCommand("external"),
          "diff.evil.command": traceCommand("driver"),
          "diff.evil.textconv": traceCommand("textconv"),
          "diff.noprefix": "true",
          "push.recurseSubmodules": "on-demand",
          "push.followTags": "true",
          "protocol.ext.allow": "always",
          "submodule.evil.url": `ext::${traceCommand("submodule")}`,
          "submodule.evil.update": `!${traceCommand("update")}`,
        };
        for (const [key, value] of Object.entries(settings)) {
          await harness.git("config", key, value);
        }
        await writeFile(join(workingDirectory, ".gitattributes"), "*.txt diff=evil\n");
        await writeFile(
          join(workingDirectory, ".gitmodules"),
          `[submodule "evil"]\npath = evil\nurl = ext::${traceCommand("module")}\n`,
        );

        const result = await diffAndPush();

        expect(result).toMatchObject([{ filesChanged: 1, isCut: false }]);
        expect(JSON.stringify(result)).not.toContain("passwd");
        expect(await listTraces()).toEqual([]);
        expect(gatewayHarness.gateway.traffic.pushes).toMatchObject([{ branch: PUSH.branch }]);
      });

      test.each(["insteadOf", "pushInsteadOf"])(
        "the setting %s cannot redirect a push to a program",
        async (setting) => {
          const workingDirectory = await open();
          const program = join(harness.workspace.directory, "program");
          await writeFile(program, `#!/bin/sh\n${traceCommand("program")} </dev/null\n`, { mode: 0o755 });
          await harness.git("config", "protocol.ext.allow", "always");
          await harness.git("config", `url.ext::${program} .${setting}`, `${server.url}/acme`);
          await writeFile(join(workingDirectory, "a.txt"), "changed\n");

          await harness.changes.push(harness.runWorkspace, PUSH).catch(() => undefined);

          expect(await listTraces()).toEqual([]);
        },
      );

      if (isolated) {
        test("a filter of the repository cannot read or write files of the host", async () => {
          const workingDirectory = await open();
          await writeFile(join(harness.root, "ours.txt"), "canary of the host");
          await harness.git(
            ...["config", "filter.evil.clean"],
            `cat; cat ${harness.root}/ours.txt; touch ${harness.root}/escaped /tmp/errand-escaped; ls ${harness.root}`,
          );
          await writeFile(join(workingDirectory, ".gitattributes"), "*.txt filter=evil\n");

          const result = await diffAndPush();

          const [diff] = result as readonly { patch: Uint8Array }[];
          expect(Buffer.from(diff?.patch ?? "").toString()).not.toContain("canary of the host");
          expect(await readdir(harness.root)).not.toContain("escaped");
          expect(await readdir("/tmp")).not.toContain("errand-escaped");
        });

        test.each(["link", "file", "alternates"])(
          "a repository cannot point to a repository of the host by a %s",
          async (way) => {
            const workingDirectory = await open();
            const secret = join(harness.root, "host-repository");
            await rename(join(workingDirectory, ".git"), join(harness.root, "moved"));
            await mkdir(secret);
            await rename(join(harness.root, "moved"), join(secret, ".git"));
            if (way === "link") {
              await symlink(join(secret, ".git"), join(workingDirectory, ".git"));
            }
            if (way === "file") {
              await writeFile(join(workingDirectory, ".git"), `gitdir: ${join(secret, ".git")}\n`);
            }
            if (way === "alternates") {
              await mkdir(join(workingDirectory, ".git/objects/info"), { recursive: true });
              await mkdir(join(workingDirectory, ".git/refs"));
              await writeFile(join(workingDirectory, ".git/HEAD"), "ref: refs/heads/main\n");
              await writeFile(
                join(workingDirectory, ".git/objects/info/alternates"),
                `${join(secret, ".git/objects")}\n`,
              );
            }

            await expect(harness.changes.diff(harness.runWorkspace, "clone")).rejects.toMatchObject({
              code: "operation_not_supported",
            });
          },
        );

        test("a link in place of the repository does not expose files of the host", async () => {
          const workingDirectory = await open();
          await rename(workingDirectory, join(harness.root, "host-repository"));
          await symlink(join(harness.root, "host-repository"), workingDirectory);

          await expect(harness.changes.diff(harness.runWorkspace, "clone")).rejects.toMatchObject({
            code: "operation_not_supported",
          });
        });
      }

      test("git is aborted when a filter of the repository never ends", async () => {
        await open();
        await harness.close();
        harness = await ChangeHarness.open({
          ...{ gitUrl: server.url, sandbox: make(), repositories: [TOOLS], gateway: gatewayHarness.gateway },
          limits: { lookMs: 500 },
        });
        await harness.git("config", "filter.slow.clean", "sleep 600");
        await writeFile(join(harness.workspace.workingDirectory, ".gitattributes"), "*.txt filter=slow\n");
        await writeFile(join(harness.workspace.workingDirectory, "a.txt"), "x");

        await expect(harness.changes.takeSnapshot(harness.runWorkspace)).rejects.toMatchObject({
          message: expect.stringContaining("not found in time"),
        });
      });

      test("nested repositories, names that look like options and a circular link do not prevent a diff", async () => {
        const workingDirectory = await open();
        await mkdir(join(workingDirectory, "nested/.git"), { recursive: true });
        await mkdir(join(workingDirectory, "--upload-pack=x"));
        for (const name of ["--upload-pack=x/-rf", "-n", "new\nline", '"quoted"', "\\back", ":(top)x"]) {
          await writeFile(join(workingDirectory, name), "x");
        }
        await symlink("loop", join(workingDirectory, "loop"));
        await harness.git("config", "core.bare", "true");

        const [diff] = (await harness.changes.diff(harness.runWorkspace, "clone")).diffs;

        expect(diff?.filesChanged).toBe(7);
        expect(diff?.isCut).toBe(false);
      });

      test("corrupt refs and a corrupt index cause at most an error, and the index is left as it is", async () => {
        const workingDirectory = await open();
        await rm(join(workingDirectory, ".git/refs/errand"), { recursive: true, force: true });
        await writeFile(join(workingDirectory, ".git/packed-refs"), "garbage\n");
        await writeFile(join(workingDirectory, ".git/index"), "garbage");
        await writeFile(join(workingDirectory, "a.txt"), "changed\n");

        const result = await harness.changes.diff(harness.runWorkspace, "clone").catch((error) => error);

        expect(Array.isArray(result.diffs) || result.code === "operation_not_supported").toBe(true);
        expect(await readFile(join(workingDirectory, ".git/index"), "utf8")).toBe("garbage");
      });
    });
  },
);
