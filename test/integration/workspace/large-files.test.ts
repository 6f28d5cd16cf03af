import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { ChangeHarness } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGitLfs } from "../../support/git-lfs.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { LfsHost } from "../../support/lfs-host.ts";
import { aPreparation, aWorkspaceProvider, stepsOf } from "../../support/workspace-harness.ts";

const SITE = { owner: "acme", name: "site" };
const PUSH = { repository: SITE, branch: "errand/abc", message: "Add a file" };
const STEP = "Fetch the large files of acme/site (Git LFS)";
const skipped = reasonToSkipGitLfs();

describe.skipIf(skipped !== undefined)(`large files of a workspace${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  let lfs: LfsHost;
  let harness: GatewayHarness;
  let root: string;

  beforeEach(async () => {
    lfs = await LfsHost.start();
    repositories = await GitRepositories.create();
    await repositories.commit("acme/site", {
      "assets/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "assets/large.bin": lfs.add("a large file"),
    });
    server = await GitHttpServer.start(repositories.root);
    server.intercept = lfs.answer;
    harness = await openGateway({
      gitUrl: server.url,
      allow: "127.0.0.1",
      grant: { repositories: [{ ...SITE, push: true }] },
    });
    root = await mkdtemp(join(tmpdir(), "errand-large-"));
  });
  afterEach(async () => {
    await harness.close();
    await server.stop();
    await lfs.stop();
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  async function prepare(variables: Readonly<Record<string, string>> = {}, sparse?: readonly string[]) {
    const { gateway } = harness;
    const plan = { repositories: [SITE], ...(sparse === undefined ? {} : { sparse }) };
    const preparation = aPreparation(newId<RunId>(new Date()), { gateway, plan });
    const variablesOf = () => ({ ...gatewayVariables(gateway, server.url), ...variables });
    const prepared = await aWorkspaceProvider(root, { gitUrl: server.url, variablesOf }).prepare(preparation);
    return { ...prepared, steps: stepsOf(preparation.reportedSteps) };
  }
  const fileIn = (directory: string) => readFile(join(directory, "assets/large.bin"), "utf8");

  test("are fetched where attributes ask for it", async () => {
    const { lacks, steps, workingDirectory } = await prepare();

    expect(await fileIn(workingDirectory)).toBe("a large file");
    expect(lacks).toEqual([]);
    expect(steps).toContainEqual([STEP, "completed", ""]);
  });

  test("of a sparse checkout are fetched without those of other folders", async () => {
    await repositories.commit("acme/site", {
      ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "root.bin": lfs.add("in the root"),
      "services/[id]/own, with a comma.bin": lfs.add("in the folder"),
      "libs/other.bin": lfs.add("in another folder"),
    });

    const { lacks, workingDirectory } = await prepare({}, ["services/[id]"]);

    expect(lacks).toEqual([]);
    expect(await readFile(join(workingDirectory, "root.bin"), "utf8")).toBe("in the root");
    const own = join(workingDirectory, "services/[id]/own, with a comma.bin");
    expect(await readFile(own, "utf8")).toBe("in the folder");
    await expect(readFile(join(workingDirectory, "libs/other.bin"))).rejects.toThrow("ENOENT");
    expect(await readdir(join(workingDirectory, ".git/lfs/objects"))).toHaveLength(2);
  });

  test("are not asked for in other repositories", async () => {
    await repositories.commit("acme/site", { ".gitattributes": "*.bin -text\n", "a.txt": "filter=lfs" });

    const { steps } = await prepare();

    expect(steps.map(([title]) => title)).toEqual(["Clone acme/site"]);
  });

  test("that cannot be fetched leave pointers, and the run says why", async () => {
    lfs.objects.clear();

    const { lacks, steps, workingDirectory } = await prepare();

    expect(await fileIn(workingDirectory)).toContain("oid sha256:");
    expect(lacks).toEqual([
      "The large files (Git LFS) of acme/site are not there, only their pointers, because git lfs pull failed, as the log says.",
    ]);
    expect(steps.at(-1)).toEqual([STEP, "failed", expect.stringContaining("There is no such object.")]);
  });

  test("leave pointers where git-lfs is missing, and the run names it", async () => {
    const { lacks, workingDirectory } = await prepare({ PATH: await pathWithoutGitLfs() });

    expect(await fileIn(workingDirectory)).toContain("oid sha256:");
    expect(lacks).toEqual([expect.stringContaining("git-lfs is not installed where the agent runs")]);
  });

  test("that the agent adds are uploaded before its work is pushed", async () => {
    const changes = await ChangeHarness.open({
      gitUrl: server.url,
      sandbox: createLocalSandbox(tmpdir()),
      repositories: [SITE],
      gateway: harness.gateway,
    });
    const { workingDirectory } = changes.workspace;
    await changes.git("lfs", "install", "--local");
    await writeFile(join(workingDirectory, "assets/new.bin"), "new and large");

    const pushed = await changes.changes.push(changes.runWorkspace, PUSH);

    expect(pushed?.pushed.branch).toBe("errand/abc");
    expect([...lfs.objects.values()].map(String)).toContain("new and large");
    expect(await repositories.read("acme/site", "errand/abc", "assets/new.bin")).toContain("oid sha256:");
    await changes.close();
  });

  /** `git lfs` fails as in an image without it. */
  async function pathWithoutGitLfs(): Promise<string> {
    const directory = join(root, "bin");
    await mkdir(directory);
    const program = join(directory, "git");
    await writeFile(program, '#!/bin/sh\n[ "$1" = lfs ] && exit 1\nexec /usr/bin/git "$@"\n');
    await chmod(program, 0o755);
    await symlink("/bin/sh", join(directory, "sh"));
    return directory;
  }
});
