import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { Gateway } from "../../../src/core/ports/gateway.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { createKnownSecrets } from "../../../src/secrets/redaction.ts";
import { RunDirectory } from "../../../src/workspace/run-directory.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { openGateway } from "../../support/gateway-harness.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { aPreparation, aWorkspaceProvider, stepsOf } from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };

let root: string;
let repositories: GitRepositories;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-paths-"));
  repositories = await GitRepositories.create();
  await repositories.commit("acme/tools", { "file.txt": "one\n" });
});
afterEach(async () => {
  await repositories.remove();
  await rm(root, { recursive: true, force: true });
});

const skipped = await reasonToSkipBubblewrap();
describe.skipIf(skipped !== undefined)(
  `paths in a sandbox that can mount${skipped ? ` (skipped: ${skipped})` : ""}`,
  () => {
    const openProvider = () =>
      aWorkspaceProvider(root, { gitUrl: repositories.fileUrl, sandbox: bubblewrapIn(root) });

    test("setup commands see /workspace and /home/agent, and so does what git writes down", async () => {
      const setupCommands = ["pwd; echo $HOME; echo $ERRAND_ARTIFACTS_DIR", "git worktree add -q ../other"];
      const plan = { repositories: [TOOLS], setupCommands };
      const preparation = aPreparation(newId<RunId>(new Date()), { plan });

      const workspace = await openProvider().prepare(preparation);

      const [, [, , output = ""] = []] = stepsOf(preparation.reportedSteps);
      expect(output).toBe("/workspace/tools\n/home/agent\n/workspace/artifacts\n");
      expect(await readFile(join(workspace.directory, "other/.git"), "utf8")).toBe(
        "gitdir: /workspace/tools/.git/worktrees/other\n",
      );
      expect(workspace.inside).toEqual({
        directory: "/workspace",
        workingDirectory: "/workspace/tools",
        home: "/home/agent",
      });
    });

    test("git shows no token in its addresses, settings and errors, and the environment only that of the proxy", async () => {
      const gitUrl = "https://github.com";
      const harness = await openGateway({ isolated: true, gitUrl, grant: { network: "internet" } });
      const setupCommands = [
        "git init -q && git remote add origin https://github.com/acme/private && git remote -v",
        "git config --list --show-origin",
        "git fetch origin 2>&1; test $? -ne 0",
        "env",
      ];
      const preparation = aPreparation(newId<RunId>(new Date()), {
        plan: { setupCommands },
        gateway: harness.gateway,
      });
      const variablesOf = (gateway: Gateway) => gatewayVariables(gateway, gitUrl);

      await aWorkspaceProvider(root, { sandbox: bubblewrapIn(root), variablesOf }).prepare(preparation);
      await harness.close();

      const [addresses, settings, error, environment] = stepsOf(preparation.reportedSteps).map(
        ([, , output]) => output,
      );
      const token = new URL(harness.gateway.address).pathname.slice(1);
      expect(addresses).toContain("http://github.com/acme/private (fetch)");
      expect(settings).toContain("http.http://github.com/.proxy=http://127.0.0.1:");
      expect(error).toMatch(/github\.com\/acme\/private/);
      for (const output of [addresses, settings, error]) {
        expect(output).not.toContain(token);
      }
      const shown = environment?.split("\n").filter((line) => line.includes(token)) ?? [];
      expect(shown.map((line) => line.split("=")[0]?.toUpperCase()).sort()).toEqual(
        ["ALL_PROXY", "ALL_PROXY", "HTTPS_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "HTTP_PROXY"].sort(),
      );
    });

    test("files that the earlier version made on this worker get the new paths once", async () => {
      const runId = newId<RunId>(new Date());
      const run = new RunDirectory(root, runId);
      await run.build([""], async () => {
        await writeFile(join(run.directory, "script"), `#!${run.directory}/bin/sh ${run.home}/x\n`);
        await mkdir(join(run.directory, "bin"));
        await symlink(join(run.directory, "bin"), join(run.home, "link"));
        return { place: run.path, setup: "", repositories: [] };
      });

      await openProvider().prepare(aPreparation(runId));
      await writeFile(join(run.directory, "later"), run.directory);
      await openProvider().prepare(aPreparation(runId));

      expect(await readFile(join(run.directory, "script"), "utf8")).toBe(
        "#!/workspace/bin/sh /home/agent/x\n",
      );
      expect(await readFile(join(run.directory, "later"), "utf8")).toBe(run.directory);
    });
  },
);

test("a sandbox that cannot mount has the worker's own paths, and readers are shown the common ones", async () => {
  const provider = aWorkspaceProvider(root, { gitUrl: repositories.fileUrl });
  const runId = newId<RunId>(new Date());
  const plan = { repositories: [TOOLS], setupCommands: ["pwd; echo $HOME"] };
  const preparation = aPreparation(runId, { plan });

  const workspace = await provider.prepare(preparation);

  const [, [, , output = ""] = []] = stepsOf(preparation.reportedSteps);
  const redactor = createKnownSecrets([]).create([], provider.shownPaths(runId));
  expect(workspace.inside).toBeUndefined();
  expect(output).toBe(`${workspace.workingDirectory}\n${workspace.home}\n`);
  expect(redactor.redact(output)).toBe("/workspace/tools\n/home/agent\n");
});
