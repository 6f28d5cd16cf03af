import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { createChangeTracker } from "../../../src/workspace/changes/change-tracker.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { aPreparation, aWorkspaceProvider, commitsAt, stepsOf } from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const TOKEN = "Basic dG9rZW4tb2YtdGhlLWFwcA==";

const skipped = await reasonToSkipDocker();
describe.skipIf(skipped !== undefined)(
  `workspaces in containers${skipped ? ` (skipped: ${skipped})` : ""}`,
  () => {
    let docker: TestDocker;
    let repositories: GitRepositories;
    let server: GitHttpServer;
    let gatewayHarness: GatewayHarness;
    let root: string;
    let sandbox: Sandbox;

    beforeAll(async () => {
      docker = await startDocker();
      repositories = await GitRepositories.create();
      await repositories.commit("acme/tools", { "file.txt": "one\n" });
      server = await GitHttpServer.start(repositories.root, TOKEN);
      root = await mkdtemp(join(tmpdir(), "errand-docker-workspace-"));
      const grant = { repositories: [{ ...TOOLS, push: true }] };
      const authorize = async () => TOKEN;
      gatewayHarness = await openGateway({ isolated: true, gitUrl: server.url, authorize, grant });
      sandbox = createDockerSandbox({
        ...{ dataDir: root, limits: DEFAULT_SANDBOX_LIMITS, docker, image: docker.imageBare },
      });
    });
    afterAll(async () => {
      await gatewayHarness?.close();
      await server?.stop();
      await repositories?.remove();
      await docker?.stop();
      await rm(root, { recursive: true, force: true });
    });

    async function prepare(image: string | undefined, ...setupCommands: string[]) {
      const variablesOf = (gateway: GatewayHarness["gateway"]) => gatewayVariables(gateway, server.url);
      const options = { gitUrl: server.url, sandbox, authorize: async () => TOKEN, variablesOf };
      const runId = newId<RunId>(new Date());
      const { gateway } = gatewayHarness;
      const plan = { repositories: [TOOLS], setupCommands, ...(image === undefined ? {} : { image }) };
      const preparation = aPreparation(runId, { gateway, plan });
      const workspace = await aWorkspaceProvider(root, options).prepare(preparation);
      const runWorkspace = { runId, workspace, gateway, ...(image === undefined ? {} : { image }) };
      const changes = createChangeTracker({
        ...{ dataDir: root, sandbox, gitUrl: server.url, variablesOf },
        findCommit: commitsAt(root, server.url),
      });
      return { changes, preparation, runWorkspace, workspace };
    }

    test("a workspace in a container is set up in the environment's image, compared by the image's git and pushed through the gateway", async () => {
      const commands = [
        "git fetch origin && git log -1 --format=%s",
        `echo made > made.txt; test ! -e ${repositories.root}`,
      ];
      const { changes, preparation, runWorkspace, workspace } = await prepare(
        docker.imageWithNode,
        ...commands,
      );
      expect(await readFile(join(workspace.workingDirectory, "made.txt"), "utf8")).toBe("made\n");
      expect(stepsOf(preparation.reportedSteps).at(1)?.[2]).toContain("A commit");
      await changes.takeSnapshot(runWorkspace);
      await writeFile(join(workspace.workingDirectory, "file.txt"), "two, and longer\n");

      const [turn] = (await changes.diff(runWorkspace, "snapshot")).diffs;
      const work = await changes.push(runWorkspace, {
        repository: TOOLS,
        branch: "errand/x",
        message: "m",
      });

      expect(Buffer.from(turn?.patch ?? "").toString()).toContain("+two, and longer");
      expect(turn?.filesChanged).toBe(1);
      expect(gatewayHarness.gateway.traffic.pushes).toEqual([work?.pushed]);
    });

    test("an image without git yields no patches, and the error says why", async () => {
      const { changes, runWorkspace } = await prepare(undefined, "echo without bash or git");

      await expect(changes.takeSnapshot(runWorkspace)).rejects.toMatchObject({
        code: "operation_not_supported",
        message: "There is no git where the run works.",
      });
    });
  },
);
