import { access } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import type { AgentStart, LocalMcpServer } from "../../../src/core/ports/agent-runner.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";
import { type AnsweringServer, answerJson, startAnsweringServer } from "../../support/answering-server.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { openGateway } from "../../support/gateway-harness.ts";
import { startMcpServer } from "../../support/mcp-server.ts";
import { fixtureProgram } from "../../support/real-agents.ts";
import { waitFor } from "../../support/wait-for.ts";

const SECRET = "canary-secret-of-the-mcp-server";

let undo: AsyncDisposableStack;
let harness: AgentHarness;
let noted: string;
beforeEach(async () => {
  undo = new AsyncDisposableStack();
  harness = await openHarness();
});
afterEach(() => undo.disposeAsync());

async function openHarness(mcpTimeoutMs = 20_000): Promise<AgentHarness> {
  const opened = await AgentHarness.open((dataDir) => {
    noted = join(dataDir, "noted");
    const argv = [process.execPath, fixtureProgram("noting-agent.mjs"), "{}", noted] as const;
    const catalogue = new Map([["noting", aScriptedAgent("noting", argv)]]);
    return createAcpRunner({
      ...{ ...BARE_RUNNER, catalogue, mcpTimeoutMs },
      sandbox: createLocalSandbox(dataDir),
    });
  });
  undo.defer(() => opened.close());
  return opened;
}

function start(mcpServers: AgentStart["mcpServers"], changes: Partial<AgentStart> = {}) {
  return harness.start({ agent: "noting", mcpServers, ...changes });
}

function broken(way: string, ...words: string[]): LocalMcpServer {
  const args = [fixtureProgram("broken-mcp-server.mjs"), way, ...words];
  return { command: process.execPath, args, env: { SERVER_TOKEN: "not-shown" } };
}

const pinger: LocalMcpServer = { command: process.execPath, args: [fixtureProgram("pinger.mjs")], env: {} };

async function agentStarted(): Promise<boolean> {
  return access(noted).then(
    () => true,
    () => false,
  );
}

function failure(name: string, reason: string) {
  const message = expect.stringMatching(`^The MCP server "${name}" could not be started: ${reason}`);
  return { code: "environment_setup_failed", retryable: false, message };
}

describe("a local MCP server", () => {
  test("an agent starts when all its MCP servers can be initialized", async () => {
    await start({ pinger, noisy: broken("noise") });

    expect(await agentStarted()).toBe(true);
  });

  test.each<[string, LocalMcpServer, string]>([
    ["whose program does not exist", { ...pinger, command: "/nowhere/server" }, ".*/nowhere/server"],
    ["that ends", broken("exit"), "its process ended with exit code 3 .*The token not-shown is not valid"],
    ["that refuses", broken("refuse"), "it refused to be initialized: unknown workspace"],
    ["that writes no protocol", broken("flood"), "it writes something else"],
  ])("an MCP server %s fails the start before the agent runs", async (_how, server, reason) => {
    const started = start({ pinger, tickets: server });

    await expect(started).rejects.toMatchObject(failure("tickets", reason));
    expect(await agentStarted()).toBe(false);
  });

  test("an MCP server that does not answer in time fails the start and leaves no process", async () => {
    harness = await openHarness(300);
    const seconds = uniqueSeconds();
    const started = start({ tickets: broken("silence", seconds) });

    await expect(started).rejects.toMatchObject(failure("tickets", "it did not answer within 0.3 s"));
    expect(await processesWith(seconds)).toEqual([]);
  });

  test("a start that is aborted during the check leaves no process", async () => {
    const seconds = uniqueSeconds();
    const stopping = new AbortController();
    const started = start({ tickets: broken("silence", seconds) }, { signal: stopping.signal });
    const failed = expect(started).rejects.toThrow();
    await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the server" });

    stopping.abort();

    await failed;
    expect(await processesWith(seconds)).toEqual([]);
  });

  test("an agent that accepts no MCP servers starts without a check", async () => {
    const opened = await AgentHarness.open((dataDir) => {
      const argv = [process.execPath, fixtureProgram("noting-agent.mjs"), "{}", join(dataDir, "n")] as const;
      const agent = { ...aScriptedAgent("plain", argv), acceptsMcpServers: false };
      const catalogue = new Map([["plain", agent]]);
      return createAcpRunner({ ...BARE_RUNNER, catalogue, sandbox: createLocalSandbox(dataDir) });
    });
    undo.defer(() => opened.close());

    const { updates } = await opened.start({ agent: "plain", mcpServers: { tickets: broken("exit") } });

    expect(updates).toMatchObject([{ kind: "agent.notice", severity: "warning" }]);
  });
});

const noBubblewrap = await reasonToSkipBubblewrap();

test.skipIf(noBubblewrap !== undefined)(
  "an MCP server whose program is missing in the bubblewrap sandbox fails the start",
  async () => {
    const opened = await AgentHarness.open((dataDir) => {
      const catalogue = new Map([["plain", aScriptedAgent("plain", ["/bin/cat"])]]);
      return createAcpRunner({ ...BARE_RUNNER, catalogue, sandbox: bubblewrapIn(dataDir) });
    });
    undo.defer(() => opened.close());
    const gateway = await openGateway({ isolated: true });
    undo.defer(() => gateway.close());
    const mcpServers = { tickets: { command: "tickets-server", args: [], env: {} } };

    const started = opened.start({ agent: "plain", mcpServers, gateway: gateway.gateway });

    await expect(started).rejects.toMatchObject(failure("tickets", ".*tickets-server"));
  },
);

describe.each([false, true])("a remote MCP server, through a gateway on a socket: %s", (isolated) => {
  async function startWith(url: string) {
    const tickets = { url, headers: { authorization: `Bearer ${SECRET}` } };
    const grant = { mcpServers: { tickets } };
    const opened = await openGateway({ allow: "127.0.0.1", isolated, grant });
    undo.defer(() => opened.close());
    return start({ tickets: "remote" }, { gateway: opened.gateway });
  }

  async function serverThat(answer: AnsweringServer["answer"]): Promise<string> {
    const server = await startAnsweringServer();
    undo.defer(() => server.stop());
    server.answer = answer;
    return server.url;
  }

  test("an agent starts when a remote MCP server can be initialized, and the session of the check is ended", async () => {
    const mcp = await startMcpServer();
    undo.defer(() => mcp.stop());

    await startWith(mcp.url);

    expect(await agentStarted()).toBe(true);
    expect(mcp.requests.map(({ method }) => method)).toEqual(["POST", "DELETE"]);
    expect(mcp.sessions.size).toBe(0);
  });

  test("an agent starts when a remote MCP server answers with an event stream that stays open", async () => {
    const url = await serverThat((response, { body }) => {
      const { id } = JSON.parse(body);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hello\n\n");
      response.write(`data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n`);
      response.write(`data: {"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-06-18"}}\n\n`);
    });

    await startWith(url);

    expect(await agentStarted()).toBe(true);
  });

  test.each<[string, AnsweringServer["answer"], string]>([
    [
      "that rejects the key",
      (response) => answerJson(response, `no ${SECRET}`, 401),
      "it answered with HTTP 401",
    ],
    ["that is another kind of server", (response) => void response.end("<html>"), "its answer ended before"],
    [
      "that refuses",
      (response) => answerJson(response, { jsonrpc: "2.0", id: 1, error: { code: -1, message: "closed" } }),
      "it refused to be initialized: closed",
    ],
  ])("a remote MCP server %s fails the start without a secret", async (_how, answer, reason) => {
    const error = await startWith(await serverThat(answer)).catch((problem) => problem);

    expect(error).toMatchObject(failure("tickets", reason));
    expect(error.message).not.toContain(SECRET);
    expect(await agentStarted()).toBe(false);
  });

  test("a remote MCP server that cannot be reached fails the start", async () => {
    const server = await startAnsweringServer();
    await server.stop();

    await expect(startWith(server.url)).rejects.toMatchObject(
      failure("tickets", "it answered with HTTP 502"),
    );
  });
});
