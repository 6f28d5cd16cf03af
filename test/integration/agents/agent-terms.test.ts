import { mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import type { AgentDefinition, AgentLaunch } from "../../../src/agents/agent-definition.ts";
import type { AgentStart } from "../../../src/core/ports/agent-runner.ts";
import type { Gateway } from "../../../src/core/ports/gateway.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";
import { anIdleGateway } from "../../support/idle-gateway.ts";
import { type McpServer, startMcpServer } from "../../support/mcp-server.ts";
import { InMemoryGateways } from "../../support/memory/in-memory-gateways.ts";
import { fixtureProgram } from "../../support/real-agents.ts";
import { waitFor } from "../../support/wait-for.ts";

const PROGRAM = join(import.meta.dirname, "../../fixtures/agents/noting-agent.mjs");
const STEERS = { protocolVersion: 1, agentCapabilities: {}, _meta: { steering: { supported: true } } };

type Answers = Readonly<Record<string, unknown>>;

interface Ways {
  readonly launch?: Partial<AgentLaunch>;
  readonly agent?: Partial<AgentDefinition>;
  readonly start?: Partial<AgentStart>;
}

let harness: AgentHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

async function open(): Promise<AgentHarness> {
  harness = await AgentHarness.open((dataDir) => ({
    start: (request, observer) =>
      runnerOf(dataDir, request.agent).start({ ...request, agent: "noting" }, observer),
  }));
  return harness;
}

/** What an agent is comes as its name, so that one bench serves each test's own. */
function runnerOf(dataDir: string, told: string) {
  const { answers, launch, agent } = JSON.parse(told) as Ways & { answers: Answers };
  const argv = [process.execPath, PROGRAM, JSON.stringify(answers), join(dataDir, "noted")] as const;
  const catalogue = new Map([["noting", { ...aScriptedAgent("noting", argv, launch), ...agent }]]);
  return createAcpRunner({ ...BARE_RUNNER, catalogue, sandbox: createLocalSandbox(dataDir) });
}

async function start(answers: Answers = {}, { start: changes = {}, ...ways }: Ways = {}) {
  const used = harness ?? (await open());
  const gateways = new InMemoryGateways();
  await gateways.open({
    runId: "r",
    teamId: "t",
    repositories: [],
    mcpServers: {},
    network: "none",
  } as never);
  const agent = JSON.stringify({ answers, ...ways });
  return { ...(await used.start({ agent, gateway: gateways.last, ...changes })), gateway: gateways.last };
}

async function noted(method: string) {
  const file = join(harness?.workspace.directory ?? "", "../../noted");
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  return lines
    .map((line) => JSON.parse(line))
    .filter((each) => each.method === method)
    .map(({ params }) => params);
}

test.each([
  ["an agent of the operator", true],
  ["the built-in agent", false],
])("the first prompt of %s says that nothing outlives the turn: %s", async (_what, isTold) => {
  const { session } = await start({}, { agent: { isDemo: !isTold } });

  await session.prompt("a");

  const [{ prompt }] = await noted("session/prompt");
  expect(JSON.stringify(prompt).includes("all your processes are ended")).toBe(isTold);
});

describe("how a turn ends", () => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

  test.each<[number | undefined, string, string, boolean]>([
    [401, "bad key", "external_authentication_required", false],
    [403, "not you", "external_authentication_required", false],
    [402, "pay", "insufficient_credits", false],
    [429, "insufficient_quota", "insufficient_credits", false],
    [429, "slow down", "resource_unavailable", true],
    [503, "overloaded", "resource_unavailable", true],
    [undefined, "connect ECONNREFUSED", "resource_unavailable", true],
    [404, "no such model", "invalid_request", false],
  ])(
    "a turn that the agent ends well fails if the model answered %s %s: %s",
    async (status, message, code, retryable) => {
      const steered = { stopReason: "end_turn" };
      const { session, gateway } = await start({ initialize: STEERS, "session/prompt": "wait", steered });
      const turn = session.prompt("go");
      const ended = expect(turn).rejects.toMatchObject({
        ...{ code, retryable },
        message: `The model answered with an error: ${message}`,
      });
      await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

      gateway.fail({ message, ...(status === undefined ? {} : { status }) });
      await session.steer("end now");

      await ended;
    },
  );

  test.each([
    [401, 3, "external_authentication_required"],
    [500, 5, "resource_unavailable"],
  ])(
    "a turn is ended by the service when the model answers %i and the agent tries for ever",
    async (status, tries, code) => {
      const { session, gateway } = await start({ "session/prompt": "wait" });
      let hasEnded = false;
      const turn = session.prompt("go").finally(() => {
        hasEnded = true;
      });
      const ended = expect(turn).rejects.toMatchObject({ code });
      await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

      for (let count = 1; count < tries; count += 1) {
        gateway.fail({ status, message: "no" });
      }
      await noted("session/prompt");
      expect(hasEnded).toBe(false);
      gateway.fail({ status, message: "no" });

      await ended;
      await waitFor(async () => (await noted("session/cancel")).length === 1, { what: "the cancel" });
    },
  );

  test.each([
    [true, "resource_unavailable", "The model answered with an error: overloaded"],
    [false, "external_authentication_required", "refused with status 401"],
  ])(
    "a turn ends with the agent's error; what the gateway saw (%s) does not replace it",
    async (isSeen, code, message) => {
      const steered = { code: -32603, message: "refused with status 401" };
      const { session, gateway } = await start({ initialize: STEERS, "session/prompt": "wait", steered });
      gateway.fail({ status: 403, message: "from before" });
      const ended = expect(session.prompt("go")).rejects.toMatchObject({ code, message });
      await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

      if (isSeen) {
        gateway.fail({ status: 529, message: "overloaded" });
      }
      await session.steer("end now");

      await ended;
    },
  );

  test("a turn whose model the gateway refused because of its price fails with what to do", async () => {
    const steered = { stopReason: "end_turn" };
    const { session, gateway } = await start({ initialize: STEERS, "session/prompt": "wait", steered });
    const ended = expect(session.prompt("go")).rejects.toMatchObject({
      ...{ code: "operation_not_supported", retryable: false, message: "The model m has no known price." },
      options: { remedy: expect.stringContaining("ERRAND_MODEL_PRICES") },
    });
    await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

    gateway.fail({ status: 403, message: "The model m has no known price.", isUnpriced: true });
    await session.steer("end now");

    await ended;
  });

  test("a turn succeeds although the model failed in an earlier turn", async () => {
    const { session, gateway } = await start();
    gateway.fail({ status: 500, message: "from before" });

    expect(await session.prompt("go")).toEqual({ stopReason: "end_turn" });
  });

  test("a cancelled turn ends as cancelled although the model failed", async () => {
    const { session, gateway } = await start({ "session/prompt": "wait" });
    const turn = session.prompt("go");
    await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

    gateway.fail({ status: 500, message: "broke" });
    await session.cancel();

    expect(await turn).toEqual({ stopReason: "cancelled" });
  });

  test("a cancel that the agent ignores is repeated until its turn ends", async () => {
    const { session } = await start({ "session/prompt": ["wait"], ignoredCancels: 2 });
    const turn = session.prompt("go");
    await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

    await session.cancel();

    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(await session.prompt("again")).toEqual({ stopReason: "end_turn" });
    expect(await noted("session/cancel")).toHaveLength(3);
  });

  test("a turn ends with the limit that the agent reports", async () => {
    const { session } = await start({
      "session/prompt": [{ stopReason: "max_tokens" }, { stopReason: "max_turn_requests" }],
    });

    expect([await session.prompt("a"), await session.prompt("b")]).toEqual([
      { stopReason: "max_tokens" },
      { stopReason: "max_turn_requests" },
    ]);
  });

  test("a turn reports the tokens counted by the gateway instead of the agent's", async () => {
    const { session, gateway } = await start({
      "session/prompt": ["wait", { stopReason: "end_turn", usage }],
    });
    gateway.call({ inputTokens: 5, outputTokens: 5, totalTokens: 10 });
    const turn = session.prompt("go");
    await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

    gateway.call({ inputTokens: 30, outputTokens: 3, totalTokens: 33 });
    await session.cancel();

    expect(await turn).toMatchObject({ usage: { inputTokens: 30, outputTokens: 3, totalTokens: 33 } });
    expect(await session.prompt("again")).toMatchObject({ usage });
  });

  test.each([
    ["by turn", 30],
    ["by session", 20],
  ] as const)("a turn reports its own tokens when the agent counts %s", async (countsUsage, second) => {
    const told = [10, 30].map((totalTokens) => ({
      stopReason: "end_turn",
      usage: { inputTokens: 0, outputTokens: totalTokens, totalTokens },
    }));
    const { session } = await start({ "session/prompt": told }, { agent: { countsUsage } });

    const [first, next] = [await session.prompt("a"), await session.prompt("b")];

    expect([first.usage?.totalTokens, next.usage?.totalTokens]).toEqual([10, second]);
  });
});

describe("a message in the middle of a turn", () => {
  test("a steering message reaches an agent that supports it during a turn", async () => {
    const { session } = await start({
      initialize: STEERS,
      "session/prompt": "wait",
      "_session/steering": [
        { outcome: "injected" },
        { outcome: "rejected" },
        { code: -32603, message: "no" },
      ],
    });
    expect(await session.steer("too early")).toBe(false);
    const turn = session.prompt("go");
    await waitFor(async () => (await noted("session/prompt")).length === 1, { what: "the prompt" });

    const taken = [await session.steer("left"), await session.steer("right"), await session.steer("back")];
    await session.cancel();
    await turn;

    expect(taken).toEqual([true, false, false]);
    expect(await noted("_session/steering")).toContainEqual({
      sessionId: "s",
      prompt: [{ type: "text", text: "left" }],
    });
    expect(await session.steer("too late")).toBe(false);
  });

  test("a steering message is not sent to an agent whose turn waits for a command in the background", async () => {
    const leaves = uniqueSeconds();
    const answers = { initialize: STEERS, "_session/steering": { outcome: "injected" }, leaves };
    const { session } = await start(answers);
    let isOver = false;
    const turn = session.prompt("a").finally(() => {
      isOver = true;
    });
    await waitFor(async () => (await processesWith(leaves)).length > 0, { what: "the command" });

    await waitFor(async () => !(await session.steer("more")), { what: "the end of the agent's turn" });

    expect(isOver).toBe(false);
    expect(await turn).toMatchObject({ stopReason: "end_turn", stoppedTasks: [`sleep ${leaves}`] });
  });

  test("a steering message is not sent to an agent that does not support it", async () => {
    const { session } = await start({
      "session/prompt": "wait",
      "_session/steering": { outcome: "injected" },
    });
    const turn = session.prompt("go");

    expect(await session.steer("left")).toBe(false);

    await session.cancel();
    await turn;
  });
});

describe("MCP servers", () => {
  const mcpServers = {
    files: { command: process.execPath, args: [fixtureProgram("pinger.mjs")], env: { KEY: "of the run" } },
    issues: "remote",
  } as const;
  const local = { ...mcpServers.files, name: "files", env: [{ name: "KEY", value: "of the run" }] };
  let mcp: McpServer;
  let gateway: Gateway;
  beforeEach(async () => {
    mcp = await startMcpServer();
    gateway = anIdleGateway({ address: `${mcp.url}/token` });
  });
  afterEach(() => mcp.stop());

  test("a session gets its MCP servers when it is opened and when it is loaded, remote ones by the gateway's address", async () => {
    const capabilities = { loadSession: true, mcpCapabilities: { http: true } };
    const initialize = { protocolVersion: 1, agentCapabilities: capabilities };
    const { session } = await start({ initialize }, { start: { mcpServers, gateway } });
    await start({ initialize }, { start: { mcpServers, gateway, previousSession: session.sessionId } });
    const remote = { type: "http", name: "issues", url: `${gateway.address}/tools/issues`, headers: [] };

    const [opened, loaded] = [...(await noted("session/new")), ...(await noted("session/load"))];
    expect(opened.mcpServers).toEqual([local, remote]);
    expect(loaded.mcpServers).toEqual([local, remote]);
  });

  test("MCP servers that the agent cannot reach are left out with a notice", async () => {
    const { updates } = await start({}, { start: { mcpServers, gateway } });
    const none = await start({}, { start: { mcpServers, gateway }, agent: { acceptsMcpServers: false } });

    expect((await noted("session/new")).map(({ mcpServers }) => mcpServers)).toEqual([[local], []]);
    expect(updates).toEqual([noticeOf("noting does not take the MCP server issues.")]);
    expect(none.updates).toHaveLength(2);
  });
});

describe("what is chosen", () => {
  const model = optionOf("model", "model", ["m-1", "m-2"]);
  const effort = optionOf("effort", "thought_level", ["low", "high"]);

  test("the requested model and then the reasoning level are set by the agent's options", async () => {
    const opened = { sessionId: "s", configOptions: [effort, model] };
    const answers = {
      "session/new": opened,
      "session/set_config_option": { configOptions: [effort, model] },
    };
    const { updates } = await start(answers, { start: { modelId: "m-2", reasoningLevel: "HIGH" } });

    expect(
      (await noted("session/set_config_option")).map(({ configId, value }) => [configId, value]),
    ).toEqual([
      ["model", "m-2"],
      ["effort", "high"],
    ]);
    expect(updates).toEqual([]);
  });

  test("a notice reports a model or reasoning level that the agent does not accept", async () => {
    const refused = { code: -32602, message: "no" };
    const answers = {
      "session/new": { sessionId: "s", configOptions: [model] },
      "session/set_config_option": refused,
    };
    const { updates } = await start(answers, { start: { modelId: "m-2", reasoningLevel: "high" } });

    expect(updates).toEqual([
      noticeOf("noting does not offer the model m-2 and works with its own choice."),
      noticeOf("noting does not offer the reasoning level high and works with its own choice."),
    ]);
  });

  test("a model and a base prompt that the launch sets are not sent again", async () => {
    const ways = { launch: { setsModel: true, passesBasePrompt: true } };
    const { session, updates } = await start(
      {},
      { ...ways, start: { modelId: "m-2", basePrompt: "Be brief." } },
    );
    await session.prompt("go");

    expect(updates).toEqual([]);
    expect(JSON.stringify(await noted("session/prompt"))).not.toContain("Be brief.");
  });
});

describe("a launch", () => {
  test("an agent is authenticated before its session is opened", async () => {
    await start({}, { launch: { authenticate: "key" } });

    expect(await noted("authenticate")).toEqual([{ methodId: "key" }]);
  });

  test("an agent whose authentication is refused fails with external_authentication_required", async () => {
    const authenticate = { code: -32000, message: "who are you?" };
    const refused = start({ authenticate }, { launch: { authenticate: "key" } });

    await expect(refused).rejects.toMatchObject({ code: "external_authentication_required" });
  });

  test("the launch instructions are sent with the base prompt", async () => {
    const ways = { launch: { instructions: "Ask first." } };
    const { session } = await start({}, { ...ways, start: { basePrompt: "Be brief." } });
    await session.prompt("go");

    expect((await noted("session/prompt"))[0].prompt[0].text).toContain("Be brief.\n\nAsk first.");
  });

  test("an agent starts in the working directory", async () => {
    const { workspace } = await open();
    const workingDirectory = join(workspace.directory, "repository");
    await mkdir(workingDirectory);
    await start({}, { start: { workspace: { ...workspace, workingDirectory } } });

    expect((await noted("session/new"))[0].cwd).toBe(workingDirectory);
    expect(await readFile(join(workspace.home, "../../noted-cwd"), "utf8")).toBe(workingDirectory);
  });

  test("a launch writes files into the home, wherever links of an earlier turn lead", async () => {
    const { workspace } = await open();
    const outside = join(workspace.directory, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "kept"), "kept");
    await symlink(outside, join(workspace.home, ".config"));
    await symlink(join(outside, "kept"), join(workspace.home, "direct"));

    await start({}, { launch: { files: { ".config/deep/a.md": "told", direct: "told" } } });

    expect(await readFile(join(workspace.home, ".config/deep/a.md"), "utf8")).toBe("told");
    expect(await readFile(join(workspace.home, "direct"), "utf8")).toBe("told");
    expect(await readFile(join(outside, "kept"), "utf8")).toBe("kept");
    await expect(readlink(join(workspace.home, ".config"))).rejects.toThrow("EINVAL");
  });
});

function noticeOf(text: string) {
  return { kind: "agent.notice", severity: "warning", text };
}

function optionOf(id: string, category: string, values: readonly string[]) {
  const options = values.map((value) => ({ value, name: value }));
  return { id, name: id, category, type: "select", currentValue: values[0], options };
}
