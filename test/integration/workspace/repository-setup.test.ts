import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { Workspace } from "../../../src/core/model/workspaces/workspace.ts";
import type { Preparation } from "../../../src/core/ports/workspace-provider.ts";
import { runGit } from "../../support/change-harness.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import {
  aPreparation,
  aWorkspaceProvider,
  stepsOf,
  type TestPreparation,
} from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const SHOP = { owner: "acme", name: "shop" };
const SCRIPT = 'echo "in $(basename "$PWD") with $TOKEN"; echo made > made.txt';
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(
  `setup scripts of repositories${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let root: string;
    const blobs = createInMemoryBlobStore(systemClock);

    beforeEach(async () => {
      repositories = await GitRepositories.create();
      root = await mkdtemp(join(tmpdir(), "errand-scripts-"));
      await repositories.commit("acme/tools", { ".errand/setup.sh": SCRIPT });
      await repositories.commit("acme/shop", { "file.txt": "shop\n" });
    });
    afterEach(async () => {
      await repositories.remove();
      await rm(root, { recursive: true, force: true });
    });

    function aRun(
      plan: Partial<Preparation["plan"]>,
      changes: Partial<Omit<Preparation, "plan">> = {},
    ): TestPreparation {
      const variables = { TOKEN: "t0ken" };
      return aPreparation(newId<RunId>(new Date()), { variables, ...changes, plan });
    }

    function prepare(preparation: Preparation): Promise<Workspace> {
      return aWorkspaceProvider(root, { gitUrl: repositories.fileUrl, blobs }).prepare(preparation);
    }

    const isMade = async (folder: string) => (await readdir(folder)).includes("made.txt");

    test("the script of a repository runs in it when there are no setup commands", async () => {
      const preparation = aRun({ repositories: [TOOLS] });

      const { workingDirectory } = await prepare(preparation);

      expect(stepsOf(preparation.reportedSteps).slice(1)).toEqual([
        [".errand/setup.sh of acme/tools", "completed", "in tools with t0ken\n"],
      ]);
      expect(await readFile(join(workingDirectory, "made.txt"), "utf8")).toBe("made\n");
    });

    test("each of several repositories has its own script", async () => {
      const { directory } = await prepare(aRun({ repositories: [SHOP, TOOLS] }));

      expect(await isMade(join(directory, "tools"))).toBe(true);
      expect(await isMade(join(directory, "shop"))).toBe(false);
    });

    test("setup commands of the environment replace the script", async () => {
      const preparation = aRun({ repositories: [TOOLS], setupCommands: ["echo own"] });

      const { workingDirectory } = await prepare(preparation);

      expect(await isMade(workingDirectory)).toBe(false);
      expect(stepsOf(preparation.reportedSteps).map(([title]) => title)).toEqual([
        "Clone acme/tools",
        "echo own",
      ]);
    });

    test("the script does not run for a single commit, which may come from a fork", async () => {
      const { workingDirectory: branch } = await prepare(aRun({ repositories: [TOOLS] }));
      const ref = (await runGit(branch, ["rev-parse", "HEAD"])).trim();
      await repositories.commit("acme/tools", { "file.txt": "more\n" });

      const { workingDirectory } = await prepare(aRun({ repositories: [{ ...TOOLS, ref }] }));

      expect(await isMade(workingDirectory)).toBe(false);
    });

    test("a script that fails ends the preparation with its name and output", async () => {
      await repositories.commit("acme/tools", { ".errand/setup.sh": "echo no compiler; exit 3" });

      await expect(prepare(aRun({ repositories: [TOOLS] }))).rejects.toMatchObject({
        code: "environment_setup_failed",
        message: "The script .errand/setup.sh of acme/tools failed with exit code 3.\nno compiler",
      });
    });

    test("what a script made is reused by the next run with the same commits", async () => {
      await prepare(aRun({ repositories: [TOOLS] }));
      const second = aRun({ repositories: [TOOLS] });

      const { workingDirectory } = await prepare(second);

      expect(stepsOf(second.reportedSteps).slice(1)).toEqual([
        [".errand/setup.sh of acme/tools", "completed", "reused"],
      ]);
      expect(await isMade(workingDirectory)).toBe(true);
    });

    test("a workspace without a script or commands is not kept as a prepared environment", async () => {
      await prepare(aRun({ repositories: [SHOP] }));

      await expect(readdir(join(root, "environments"))).rejects.toThrow("ENOENT");
    });
  },
);
