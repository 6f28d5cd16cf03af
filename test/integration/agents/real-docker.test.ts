import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import {
  openRealAgent,
  REAL_KEY,
  type RealAgentHarness,
  reasonToSkipAgent,
} from "../../support/real-agents.ts";
import { ordered } from "../../support/scripted-model.ts";
import { waitFor } from "../../support/wait-for.ts";

const PATIENCE = { timeoutMs: 120_000 };
const skipped = (await reasonToSkipDocker()) ?? (await reasonToSkipAgent("codex"));

describe.skipIf(skipped !== undefined)(
  `codex in Docker${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  { timeout: 240_000 },
  () => {
    let docker: TestDocker;
    let real: RealAgentHarness;

    beforeAll(async () => {
      docker = await startDocker();
    });
    afterAll(() => docker?.stop());
    beforeEach(async () => {
      const options = { limits: DEFAULT_SANDBOX_LIMITS, docker, image: docker.imageWithNode };
      real = await openRealAgent("codex", (dataDir) => createDockerSandbox({ ...options, dataDir }));
    });
    afterEach(() => real?.[Symbol.asyncDispose]());

    const containers = () => docker.call("ps", "--all", "--quiet");

    test("codex works in a container of an image without Node and never knows the real key", async () => {
      const { session, said } = await real.start({ image: docker.imageBare });

      await session.prompt(ordered({ shell: "echo written > made.txt; env" }));
      await session.prompt(ordered({ say: "second answer" }));
      await session.close();

      const made = join(real.harness.workspace.workingDirectory, "made.txt");
      expect(await readFile(made, "utf8")).toBe("written\n");
      expect(said()).toContain("second answer");
      expect(said()).not.toContain(REAL_KEY);
      expect(await processesWith(REAL_KEY)).toEqual([]);
      expect(await containers()).toBe("");
    });

    test("a command that codex runs in a container is stopped by a cancel and leaves no container", async () => {
      const seconds = uniqueSeconds();
      const { session } = await real.start();
      const turn = session.prompt(ordered({ shell: `/bin/sleep ${seconds}` }));
      await waitFor(async () => (await processesWith(seconds)).length > 0, {
        what: "the command",
        ...PATIENCE,
      });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
      await session.close();
      expect(await processesWith(seconds)).toEqual([]);
      expect(await containers()).toBe("");
    });

    test("a model that answers codex in a container with 401 fails the turn", async () => {
      const { session } = await real.start();

      await expect(session.prompt(ordered({ fail: 401, message: "no such key" }))).rejects.toMatchObject({
        code: "external_authentication_required",
        message: expect.stringContaining("no such key"),
      });
    });

    test("an image that cannot be pulled fails the start with environment_setup_failed", async () => {
      await expect(real.start({ image: "127.0.0.1:9/no/such:image" })).rejects.toMatchObject({
        ...{ code: "environment_setup_failed", retryable: false },
        message: expect.stringContaining("The image 127.0.0.1:9/no/such:image is not present"),
        options: { remedy: expect.stringContaining("Correct the image of the environment") },
      });
      expect(await containers()).toBe("");
    });

    test("an MCP server that is missing in the image fails the start", async () => {
      const mcpServers = { tickets: { command: "tickets-server", args: [], env: {} } };

      await expect(real.start({ mcpServers })).rejects.toMatchObject({
        code: "environment_setup_failed",
        message: expect.stringMatching(/^The MCP server "tickets" could not be started: .*tickets-server/),
      });
    });
  },
);
