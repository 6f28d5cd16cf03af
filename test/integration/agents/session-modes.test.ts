import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import type { AgentSession } from "../../../src/core/ports/agent-runner.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const RUDE_AGENT = join(import.meta.dirname, "../../fixtures/agents/rude-agent.mjs");
const PLAN = { name: "plan", instruction: "Plan it." };
const ORCHESTRATE = { name: "orchestrate", instruction: "Share it out." };
const NORMAL = { name: "normal", instruction: "" };

let harness: AgentHarness | undefined;
afterEach(() => harness?.close());

async function start(way: string, previousSession?: string): Promise<AgentSession> {
  const argv = [process.execPath, RUDE_AGENT, way, "heard"] as const;
  const agent = aScriptedAgent("rude", argv);
  harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({
      ...BARE_RUNNER,
      catalogue: new Map([["rude", agent]]),
      sandbox: createLocalSandbox(dataDir),
    }),
  );
  const { session } = await harness.start({
    agent: "rude",
    ...(previousSession === undefined ? {} : { previousSession }),
  });
  return session;
}

function heard(): Promise<string> {
  return readFile(join(harness?.workspace.directory ?? "", "heard"), "utf8");
}

test("a mode is set by the session option for one turn and reset for the next", async () => {
  const session = await start("mode-option");

  await session.prompt("a", { mode: NORMAL });
  await session.prompt("b", { mode: PLAN });
  await session.prompt("c", { mode: PLAN });
  await session.prompt("d", { mode: NORMAL });

  const plan = "mode=https://x/modes#plan";
  expect(await heard()).toBe(`a;${plan}b;${plan}c;mode=ownd;`);
});

test("a mode is set by the older request if the agent has no option", async () => {
  const session = await start("mode-request");

  await session.prompt("a", { mode: PLAN });
  await session.prompt("b", { mode: NORMAL });

  expect(await heard()).toBe("mode=plan;a;mode=own;b;");
});

test("a session that is resumed in one of our modes leaves it", async () => {
  const session = await start("mode-request", "s");

  await session.prompt("a", { mode: NORMAL });

  expect(await heard()).toBe("mode=own;a;");
});

test.each([
  ["has no modes", "no-modes", PLAN, "Plan it.\n\na;"],
  ["has another one", "mode-request", ORCHESTRATE, "Share it out.\n\na;"],
  ["refuses it", "mode-refused", PLAN, "Plan it.\n\na;"],
])("an agent that %s gets the mode as text in the prompt", async (_what, way, mode, expected) => {
  const session = await start(way);

  await session.prompt("a", { mode });

  expect(await heard()).toBe(expected);
});

test("a turn that is cancelled while its mode is set does not begin", async () => {
  const session = await start("mode-slow");

  const turn = session.prompt("a", { mode: PLAN });
  await waitFor(async () => (await heard().catch(() => "")) !== "", { what: "the mode to be asked for" });
  await session.cancel();

  expect(await turn).toEqual({ stopReason: "cancelled" });
  expect(await heard()).toBe("mode=plan;");
});

test("an agent that does not accept images gets none", async () => {
  const session = await start("no-modes");

  await session.prompt("a", { images: [{ mimeType: "image/png", bytes: Buffer.from("x") }] });

  expect(await heard()).toBe("a;");
});
