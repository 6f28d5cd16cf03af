import { afterEach, beforeEach, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";

let harness: AgentHarness;
beforeEach(async () => {
  const catalogue = new Map([["plain", aScriptedAgent("plain", ["/bin/cat"])]]);
  harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({ ...BARE_RUNNER, catalogue, sandbox: createLocalSandbox(dataDir) }),
  );
});
afterEach(() => harness.close());

test("an agent in an environment with an image fails with environment_setup_failed if its worker has no images", async () => {
  await expect(harness.start({ agent: "plain", image: "node:24" })).rejects.toMatchObject({
    ...{ code: "environment_setup_failed", retryable: false },
    message: "The environment wants the image node:24, and the local sandbox of its worker has no images.",
    options: { remedy: expect.stringContaining("ERRAND_SANDBOX=docker") },
  });
});
