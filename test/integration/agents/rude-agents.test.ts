import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import type { AgentDefinition, AgentLaunch } from "../../../src/agents/agent-definition.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const RUDE_AGENT = join(import.meta.dirname, "../../fixtures/agents/rude-agent.mjs");

let harness: AgentHarness | undefined;
interface Facts {
  readonly line?: string;
}
/** The facts of the lines that an operator sees, and of those for debugging. */
let warned: Facts[];
let noise: Facts[];
beforeEach(() => {
  warned = [];
  noise = [];
});
afterEach(() => harness?.close());

describe("what an agent may do without harm", () => {
  test("an agent may print lines that are not messages and send unknown updates", async () => {
    const { session, updates } = await start("noisy");

    await session.prompt("go");

    expect(updates).toEqual([
      { kind: "agent.other", name: "telepathy", data: { of: "the user" } },
      { kind: "agent.message", text: "said last" },
    ]);
    expect(warned).toMatchObject([{ agent: "rude", line: "(node:1) Warning: something is deprecated" }]);
    expect(noise.map(({ line }) => line)).toEqual(["[1,2,3]", "null"]);
  });

  test("an agent that prints without end leaves one line in the log, and that is short", async () => {
    const { session } = await start("chatters");

    await session.prompt("go");

    expect(warned).toHaveLength(1);
    expect(warned[0]?.line).toHaveLength(500);
    expect(noise).toHaveLength(999);
  });

  test("the version that an agent states is cut, because each list of runs shows it", async () => {
    const { session } = await start("long-version");

    expect(session.agent).toEqual({ name: "rude", version: "1".repeat(200) });
  });

  test("an agent that fails to load a session gets a new session", async () => {
    const { session, said } = await start("cannot-load", { previousSession: "old" });

    expect(session).toMatchObject({ resumed: false, sessionId: "s" });
    expect(said()).toBe("");
  });

  test("an agent start that is aborted leaves no process", async () => {
    const giveUp = new AbortController();
    const seconds = uniqueSeconds();
    const started = start("silent", { signal: giveUp.signal }, { file: seconds });
    const refused = expect(started).rejects.toMatchObject({ options: { reason: "agent_process_failed" } });
    await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the agent" });

    giveUp.abort();

    await refused;
    expect(await processesWith(seconds)).toEqual([]);
  });

  test("an agent that exits while it loads a session is started with a new session", async () => {
    const { session } = await start("dies-on-load", { previousSession: "old" });

    expect(session.resumed).toBe(false);
  });

  test("a cancelled turn ends as cancelled if the agent answers with an error", async () => {
    const { session } = await start("error-on-cancel");
    const turn = session.prompt("go");

    await session.cancel();

    expect(await turn).toEqual({ stopReason: "cancelled" });
  });

  test("an agent that asks for files is refused", async () => {
    const { session, said } = await start("asks-for-files");

    await session.prompt("go");

    expect(said()).toBe("refused with -32601");
  });
});

describe("what fails a start", () => {
  test.each([
    ["version-2", "internal_error", "version 2", { reason: "agent_error" }],
    ["needs-login", "external_authentication_required", "Authentication required", {}],
    ["silent", "internal_error", "not ready", { reason: "agent_process_failed" }],
  ])("the start of an agent fails: %s", async (way, code, message, options) => {
    const seconds = uniqueSeconds();

    await expect(start(way, {}, { file: seconds, startTimeoutMs: 2_000 })).rejects.toMatchObject({
      code,
      options,
      message: expect.stringContaining(message),
    });

    expect(await processesWith(seconds)).toEqual([]);
  });

  test("an agent whose program does not exist fails to start", async () => {
    const catalogue = catalogueOf(["/usr/bin/no-such-agent"]);

    await expect(startWith(catalogue)).rejects.toMatchObject({
      code: "internal_error",
      options: { reason: "agent_process_failed" },
      message: expect.stringContaining("ENOENT"),
    });
  });
});

describe("what fails a turn", () => {
  test.each([
    ["endless", "more than 16777216 bytes"],
    ["asks-endlessly", "sends more requests than it reads"],
  ])("an agent with endless output (%s) is ended and its turn fails", async (way, message) => {
    const seconds = uniqueSeconds();
    const { session } = await start(way, {}, { file: seconds });

    await expect(session.prompt("go")).rejects.toMatchObject({
      code: "internal_error",
      options: { reason: "agent_process_failed" },
      message: expect.stringContaining(message),
    });

    expect(await processesWith(seconds)).toEqual([]);
  });

  test("a turn fails when the agent exits while a child holds its output open", async () => {
    const seconds = uniqueSeconds();
    const { session } = await start("leaves-a-child", {}, { file: seconds });

    await expect(session.prompt("go")).rejects.toMatchObject({
      code: "internal_error",
      options: { reason: "agent_process_failed" },
      message: expect.stringMatching(/exit code 139.*Segmentation fault/),
    });

    await waitFor(async () => (await processesWith(seconds)).length === 0, { what: "the child's end" });
  });

  test("a turn fails when the agent closes its output but does not exit", async () => {
    const seconds = uniqueSeconds();
    const { session } = await start("closes-stdout", {}, { file: seconds });

    await expect(session.prompt("go")).rejects.toMatchObject({ options: { reason: "agent_process_failed" } });

    expect(await processesWith(seconds)).toEqual([]);
  });

  test("a turn fails when its stop reason is not in the protocol", async () => {
    const { session } = await start("strange-stop");

    await expect(session.prompt("go")).rejects.toMatchObject({
      code: "internal_error",
      options: { reason: "agent_error" },
      message: expect.stringContaining("bored"),
    });
  });
});

describe("an agent that reports more than can be stored", () => {
  test("an agent waits while its output is not read, and can be cancelled", async () => {
    const { session, turn, told, room } = await aFlood();

    await session.cancel();
    const before = told();
    // As long as it takes to look through all processes, of which this is none.
    await processesWith(uniqueSeconds());
    expect(told()).toBe(before);
    room.resolve();

    expect(await turn).toEqual({ stopReason: "cancelled" });
    // No more than what its pipe and our buffers hold.
    expect(told() - before).toBeLessThan(100);
  });

  test("an agent that waits for its output to be read can be closed", async () => {
    const seconds = uniqueSeconds();
    const { session, turn } = await aFlood({ file: seconds });
    const failed = expect(turn).rejects.toMatchObject({ options: { reason: "agent_process_failed" } });

    await session.close();

    await failed;
    expect(await processesWith(seconds)).toEqual([]);
  });

  test("a turn fails when the agent exits while its output is not read", async () => {
    const { session } = await start("floods");
    const room = Promise.withResolvers<void>();
    closeRoom(room.promise);

    await expect(session.prompt("die")).rejects.toMatchObject({
      options: { reason: "agent_process_failed" },
    });
  });
});

describe("an agent without a channel for the base prompt", () => {
  test("an agent without a channel for the base prompt gets it before the first prompt", async () => {
    const { session, said } = await start("echo", { basePrompt: "Be brief." });

    await session.prompt("first");
    const first = said();
    await session.prompt("second");

    expect(first).toMatch(/^<instructions>\nBe brief\.\n<\/instructions>\n.*first$/s);
    expect(said()).toBe(`${first}second`);
  });

  test("an agent does not get the base prompt again when its session is resumed", async () => {
    const { session, said } = await start("echo", { basePrompt: "Be brief.", previousSession: "s" });

    await session.prompt("first");

    expect(session.resumed).toBe(true);
    expect(said()).toBe("first");
  });
});

describe("a model", () => {
  test("a model is set when the agent offers it", async () => {
    await start("offers-models", { modelId: "model-b" });

    expect(await readFile(chosenModel(), "utf8")).toBe("model=model-b");
  });

  test("a notice reports a model that the agent does not offer", async () => {
    const { updates } = await start("offers-models", { modelId: "model-c" });

    expect(updates).toContainEqual({
      kind: "agent.notice",
      severity: "warning",
      text: "rude does not offer the model model-c and works with its own choice.",
    });
  });
});

/** An agent in a turn, of which nothing more is read until there is room. */
async function aFlood(ways: Ways = {}) {
  const { session, updates } = await start("floods", {}, ways);
  const room = Promise.withResolvers<void>();
  const turn = session.prompt("go");
  await waitFor(() => updates.length > 10, { what: "words" });
  closeRoom(room.promise);
  return { session, turn, room, told: () => updates.length };
}

function closeRoom(until: Promise<void>): void {
  if (harness !== undefined) {
    harness.backpressure = until;
  }
}

interface Ways {
  /** The rude agent's second argument. */
  readonly file?: string;
  readonly startTimeoutMs?: number;
}

function start(way: string, changes: Parameters<AgentHarness["start"]>[0] = {}, ways: Ways = {}) {
  return startWith(
    catalogueOf([process.execPath, RUDE_AGENT, way, ways.file ?? "chosen-model"]),
    changes,
    ways,
  );
}

async function startWith(
  catalogue: ReadonlyMap<string, AgentDefinition>,
  changes: Parameters<AgentHarness["start"]>[0] = {},
  ways: Ways = {},
) {
  const log = {
    debug: (facts: object) => void noise.push(facts),
    warn: (facts: object) => void warned.push(facts),
  };
  harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({
      ...BARE_RUNNER,
      catalogue,
      sandbox: createLocalSandbox(dataDir),
      log,
      startTimeoutMs: ways.startTimeoutMs ?? 20_000,
    }),
  );
  return await harness.start({ agent: "rude", ...changes });
}

function chosenModel(): string {
  return join(harness?.workspace.directory ?? "", "chosen-model");
}

function catalogueOf(
  argv: AgentLaunch["argv"],
  launch: Partial<AgentLaunch> = {},
): ReadonlyMap<string, AgentDefinition> {
  return new Map([["rude", aScriptedAgent("rude", argv, launch)]]);
}
