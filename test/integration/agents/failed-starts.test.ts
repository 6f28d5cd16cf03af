import { afterEach, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import type { AgentStart } from "../../../src/core/ports/agent-runner.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";

let harness: AgentHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const warned: object[] = [];
const log = { debug: () => undefined, warn: (facts: object) => void warned.push(facts) };

async function startShell(
  script: string,
  changes: Partial<AgentStart> = {},
  makeSandbox = createLocalSandbox,
) {
  warned.length = 0;
  const catalogue = new Map([["shell", aScriptedAgent("shell", ["/bin/sh", "-c", script])]]);
  harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({ ...BARE_RUNNER, catalogue, log, sandbox: makeSandbox(dataDir) }),
  );
  return harness.start({ agent: "shell", ...changes });
}

test("an agent in an environment with an image fails with environment_setup_failed if its worker has no images", async () => {
  await expect(startShell("cat", { image: "node:24" })).rejects.toMatchObject({
    ...{ code: "environment_setup_failed", retryable: false },
    message: "The environment wants the image node:24, and the local sandbox of its worker has no images.",
    options: { remedy: expect.stringContaining("ERRAND_SANDBOX=docker") },
  });
});

test.each(["exit 3", "kill -9 $$", "exec >&- 2>&-; exit 0"])(
  "an agent that ends (%s) before it is ready in the image of its environment fails with environment_setup_failed",
  async (script) => {
    const withImages = (dataDir: string): Sandbox => {
      const local = createLocalSandbox(dataDir);
      return { ...local, hasImages: true, spawn: ({ image: _, ...command }) => local.spawn(command) };
    };

    await expect(startShell(script, { image: "acme/odd" }, withImages)).rejects.toMatchObject({
      ...{ code: "environment_setup_failed", retryable: false },
      message: expect.stringMatching(/^The agent did not start in the image acme\/odd\. The agent's process/),
      options: { remedy: expect.stringContaining("image of the environment") },
    });
  },
);

test.each([
  ["kill -9 $$", "The agent's process was ended by SIGKILL."],
  ["kill -15 $$", "The agent's process was ended by SIGTERM."],
  ["exit 137", "The agent's process ended with exit code 137."],
])(
  "the output of an agent that was killed (%s) is logged and not part of the message",
  async (end, message) => {
    await expect(startShell(`echo DEBUG poll loop >&2; ${end}`)).rejects.toMatchObject({
      ...{ code: "internal_error", message },
      options: { reason: "agent_process_failed" },
    });
    expect(warned).toMatchObject([{ stderr: "DEBUG poll loop" }]);
  },
);

test("an agent that ends by itself fails with the end of its output in whole lines", async () => {
  const long = `echo secret-${"x".repeat(1_300)} >&2`;

  await expect(startShell(`${long}; echo no such model >&2; exit 3`)).rejects.toMatchObject({
    message: "The agent's process ended with exit code 3. Its last output: no such model",
  });
});
