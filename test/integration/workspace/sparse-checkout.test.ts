import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { PreparedWorkspace, WorkspacePlan } from "../../../src/core/model/workspaces/workspace.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import type { Gateway } from "../../../src/core/ports/gateway.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { createChangeTracker } from "../../../src/workspace/changes/change-tracker.ts";
import { runGit } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import {
  aPreparation,
  aWorkspaceProvider,
  commitsAt,
  stepsOf,
  type TestPreparation,
} from "../../support/workspace-harness.ts";

const MONO = { owner: "acme", name: "mono" };
const TOOLS = { owner: "acme", name: "tools" };
const FILES = {
  "README.md": "root",
  "AGENTS.md": "for agents",
  ".errand/setup.sh": "echo set up > set-up.txt\n",
  "services/README.md": "above",
  "services/api/main.ts": "api",
  "services/api/src/deep/a.ts": "deep",
  "services/web/main.ts": "web",
  "services/web/[id]/page.ts": "page",
  "libs/core/index.ts": "core",
  "libs/crlf.txt": "a\r\n",
  ".gitattributes": "*.txt text\n",
};
const PLAN = { sparse: ["services/api"] };
const PUSH = { repository: MONO, branch: "errand/abc", message: "Change services" };
/** Less than `LARGE_SETUP` makes. */
const LEAN_BYTES = 2 ** 20;
const LARGE_SETUP = "head -c 5000000 /dev/urandom > ~/cache.bin";
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(`a sparse checkout${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let root: string;
  let blobs: BlobStore;
  let runId: RunId;
  let server: GitHttpServer;
  let harness: GatewayHarness;
  beforeEach(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/mono", FILES);
    server = await GitHttpServer.start(repositories.root);
    const granted = [MONO, TOOLS].map((each) => ({ ...each, push: true }));
    harness = await openGateway({ gitUrl: server.url, grant: { repositories: granted } });
    root = await mkdtemp(join(tmpdir(), "errand-sparse-"));
    blobs = createInMemoryBlobStore(systemClock);
    runId = newId<RunId>(new Date());
  });
  afterEach(async () => {
    await harness.close();
    await server.stop();
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  const gitUrl = () => server.url;
  const variablesOf = (gateway: Gateway) => gatewayVariables(gateway, gitUrl());
  const providerOf = (worker: string) =>
    aWorkspaceProvider(join(root, worker), { gitUrl: gitUrl(), blobs, variablesOf });

  async function prepare(plan: Partial<WorkspacePlan>, changes: Partial<TestPreparation> = {}, worker = "a") {
    const whole = { repositories: [MONO], ...plan };
    const preparation = aPreparation(runId, { gateway: harness.gateway, ...changes, plan: whole });
    const workspace = await providerOf(worker).prepare(preparation);
    return { ...workspace, steps: stepsOf(preparation.reportedSteps) };
  }

  function workOf(workspace: PreparedWorkspace, worker = "a") {
    const dataDir = join(root, worker);
    const changes = createChangeTracker({
      dataDir,
      sandbox: createLocalSandbox(dataDir),
      gitUrl: gitUrl(),
      variablesOf,
      findCommit: commitsAt(dataDir, gitUrl()),
    });
    const runWorkspace = { runId, workspace, gateway: harness.gateway };
    return {
      runWorkspace,
      changedPaths: async () => {
        const { diffs } = await changes.diff(runWorkspace, "clone");
        return diffs.flatMap(({ files }) => files.map(({ path, status }) => `${status} ${path}`)).sort();
      },
      push: () => changes.push(runWorkspace, PUSH),
    };
  }

  /** The agent changes files inside and outside of the folders, and commits one after it has widened the checkout. */
  async function work({ workingDirectory }: PreparedWorkspace): Promise<void> {
    await writeFile(join(workingDirectory, "services/api/main.ts"), "changed\n");
    await mkdir(join(workingDirectory, "libs/new"), { recursive: true });
    await writeFile(join(workingDirectory, "libs/new/beside.ts"), "written without widening\n");
    await writeFile(join(workingDirectory, "libs/crlf.txt"), "replaced without widening\n");
    await runGit(workingDirectory, ["sparse-checkout", "add", "services/web"]);
    await writeFile(join(workingDirectory, "services/web/main.ts"), "committed\n");
    await runGit(workingDirectory, ["commit", "--quiet", "-m", "Change web", "services/web/main.ts"]);
    await rm(join(workingDirectory, "services/web/[id]/page.ts"));
  }
  const CHANGED = [
    "added libs/new/beside.ts",
    "deleted services/web/[id]/page.ts",
    "modified libs/crlf.txt",
    "modified services/api/main.ts",
    "modified services/web/main.ts",
  ];

  async function filesOf({ workingDirectory }: PreparedWorkspace): Promise<readonly string[]> {
    const found = await readdir(workingDirectory, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(workingDirectory.length + 1))
      .filter((path) => !path.startsWith(".git/"))
      .sort();
  }

  test("has the folders, the files above them and those that configure agents, and the log says so", async () => {
    const workspace = await prepare({ sparse: ["services/api", "services/web/[id]"] });

    expect(await filesOf(workspace)).toEqual([
      ".errand/setup.sh",
      ".gitattributes",
      "AGENTS.md",
      "README.md",
      "services/README.md",
      "services/api/main.ts",
      "services/api/src/deep/a.ts",
      "services/web/[id]/page.ts",
      "services/web/main.ts",
      "set-up.txt",
    ]);
    const [[, , log] = []] = workspace.steps;
    expect(log).toContain(", only services/api, services/web/[id] and the files above");
    expect(await runGit(workspace.workingDirectory, ["status", "--short"])).toBe("?? set-up.txt\n");
  });

  test("a folder that no repository has is a warning, and a repository without any of them is complete", async () => {
    await repositories.commit("acme/tools", { "bin/tool.ts": "tool", "docs/a.md": "a" });
    const plan = { repositories: [MONO, TOOLS], sparse: ["services/api", "libs/gone", "README.md"] };

    const { directory, lacks, steps } = await prepare(plan);

    expect(lacks).toEqual([
      "No repository has the folder libs/gone, README.md, which its environment names in `sparse`.",
    ]);
    expect(steps[0]?.[2]).toContain("It has no folder libs/gone, README.md");
    expect(steps[1]?.[2]).toContain(
      "completely, because it has no folder services/api, libs/gone, README.md",
    );
    expect(await readdir(join(directory, "tools"))).toEqual([".git", "bin", "docs"]);
    expect(await readdir(join(directory, "mono"))).not.toContain("libs");
  });

  test("files outside of it are never changes, and the agent's files there are changes and are pushed", async () => {
    const workspace = await prepare(PLAN);
    const { changedPaths, push } = workOf(workspace);
    expect(await changedPaths()).toEqual([]);
    expect(await push()).toBeUndefined();

    await work(workspace);

    expect(await changedPaths()).toEqual(CHANGED);
    expect((await push())?.pushed.branch).toBe(PUSH.branch);
    const diff = await repositories.diff("acme/mono", PUSH.branch);
    expect([...diff.matchAll(/^diff --git a\/(\S+) /gm)].map(([, path]) => path)).toEqual([
      "libs/crlf.txt",
      "libs/new/beside.ts",
      "services/api/main.ts",
      "services/web/[id]/page.ts",
      "services/web/main.ts",
    ]);
  });

  test("without an index, no push deletes what is not checked out", async () => {
    const workspace = await prepare(PLAN);
    await writeFile(join(workspace.workingDirectory, "services/api/main.ts"), "changed\n");
    await rm(join(workspace.workingDirectory, ".git/index"));

    await expect(workOf(workspace).push()).rejects.toThrow();
    expect(await repositories.branches("acme/mono")).toEqual(["main"]);
  });

  test.each(["whole", "lean", "work"] as const)(
    "another worker restores it with its changes from a %s checkpoint, and continues",
    async (kind) => {
      const plan = { ...PLAN, setupCommands: kind === "lean" ? [LARGE_SETUP] : [] };
      const workspace = await prepare(plan);
      await work(workspace);
      const provider = aWorkspaceProvider(join(root, "a"), {
        gitUrl: gitUrl(),
        blobs,
        ...(kind === "lean" ? { maxBytes: LEAN_BYTES } : {}),
      });
      const checkpoint =
        kind === "work"
          ? await provider.checkpointWork(workOf(workspace).runWorkspace)
          : await provider.checkpoint(runId);
      const stored = kind === "work" ? { checkpoint, work: checkpoint } : { checkpoint };

      const restored = await prepare(plan, { stored }, "b");

      const { changedPaths, push } = workOf(restored, "b");
      expect(await changedPaths()).toEqual(CHANGED);
      expect(await filesOf(restored)).not.toContain("libs/core/index.ts");
      expect(await readFile(join(restored.workingDirectory, "libs/crlf.txt"), "utf8")).toBe(
        "replaced without widening\n",
      );
      expect((await push())?.pushed.branch).toBe(PUSH.branch);
    },
  );

  test("a run that continues the conversation has the folders that the agent added", async () => {
    const before = await prepare(PLAN);
    await work(before);
    const checkpoint = await providerOf("a").checkpoint(runId);
    runId = newId<RunId>(new Date());

    const initialContents = async () => ({ files: [], stored: { checkpoint } });
    const continued = await prepare(PLAN, { initialContents });

    expect(await filesOf(continued)).toContain("services/web/main.ts");
    expect(await workOf(continued).changedPaths()).toEqual(CHANGED);
  });

  test("the next run reuses a prepared environment of the same folders only", async () => {
    await prepare(PLAN);
    runId = newId<RunId>(new Date());
    const same = await prepare(PLAN);
    runId = newId<RunId>(new Date());
    const other = await prepare({ sparse: ["libs"] });

    expect(same.steps[0]?.[2]).toContain("reused");
    expect(other.steps[0]?.[2]).toContain(", only libs and the files above");
    expect(await filesOf(other)).toContain("libs/core/index.ts");
  });

  test("of a fork it has no files that configure agents, not even in its folders", async () => {
    await repositories.commit("acme/mono", {
      ...FILES,
      ".github/copilot-instructions.md": "x",
      "services/api/.github/hooks/a": "x",
      "services/api/CLAUDE.md": "x",
    });

    const workspace = await prepare({ ...PLAN, repositories: [{ ...MONO, isUntrusted: true }] });

    expect(await filesOf(workspace)).toEqual([
      ".gitattributes",
      "README.md",
      "services/README.md",
      "services/api/main.ts",
      "services/api/src/deep/a.ts",
    ]);
    expect(await workOf(workspace).changedPaths()).toEqual([]);
  });

  test("submodules outside of it are neither fetched nor missed", async () => {
    const lib = await repositories.commit("acme/tools", { "lib.txt": "lib" });
    const url = `${server.url}/acme/tools.git`;
    const sections = ["services/api/lib", "libs/lib"].map(
      (path) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`,
    );
    await repositories.commit("acme/mono", {
      ...FILES,
      ".gitmodules": sections.join(""),
      "services/api/lib": { mode: "160000", text: lib },
      "libs/lib": { mode: "160000", text: lib },
    });

    const workspace = await prepare(PLAN);

    expect(workspace.lacks).toEqual([]);
    expect(await filesOf(workspace)).toContain("services/api/lib/lib.txt");
    expect(await filesOf(workspace)).not.toContain("libs/lib/lib.txt");
    expect(await workOf(workspace).changedPaths()).toEqual([]);
  });
});
