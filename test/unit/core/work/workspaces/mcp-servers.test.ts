import { beforeEach, describe, expect, test } from "vitest";
import type { McpServerConfig, RunConfig } from "../../../../../src/core/model/runs/run.ts";
import { sealOwner } from "../../../../../src/core/model/secrets/secret.ts";
import { retryOf } from "../../../../../src/core/requests/prepare/retry-of.ts";
import { McpServerService } from "../../../../../src/core/team/records/mcp-server-service.ts";
import { SecretService } from "../../../../../src/core/team/records/secret-service.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

const KEY = "$" + "{WIKI_KEY}";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

async function perform(servers: RunConfig["mcp_servers"]) {
  const { id } = await harness.create({ config: { mcp_servers: servers ?? {} } });
  await quiet();
  return harness.run(id);
}

async function aSecret(name: string, value: string): Promise<void> {
  const { teamId, ownerId, createdAt, updatedAt, creatorId } = anEnvironment("e");
  const owner = { teamId, ownerId, name };
  const sealed = harness.secretBox.seal(value, sealOwner(owner));
  await harness.storage.secrets.add({
    ...{ ...owner, id: name, sealed, createdAt, updatedAt },
    editorId: creatorId,
  });
}

describe("an MCP server", () => {
  test("the agent starts a local MCP server, whose environment alone has its secrets", async () => {
    await aSecret("WIKI_KEY", "the-key-of-the-wiki");

    await perform({ wiki: { command: "wiki-mcp", args: ["--all"], env: { TOKEN: `Bearer ${KEY}` } } });

    expect(harness.agents.starts[0]?.mcpServers).toEqual({
      wiki: { command: "wiki-mcp", args: ["--all"], env: { TOKEN: "Bearer the-key-of-the-wiki" } },
    });
    expect(harness.gateways.grants[0]?.mcpServers).toEqual({});
  });

  test("a run, its retry and a run that continues it get credentials in the clear, which are redacted", async () => {
    const key = "a-key-in-the-clear";
    harness.agents.scripts.push(async ({ say }) => {
      say(`The key is ${key}.`);
      return END_TURN;
    });

    const run = await perform({
      wiki: { command: "wiki-mcp", env: { TOKEN: key } },
      web: { url: "https://web.example/mcp", headers: { "x-key": key } },
    });
    const creator = await harness.person();
    await harness.runs.create(retryOf(run, { creator, source: "API", inputs: [] }));
    await harness.create({ continues: run });
    await quiet();

    expect(harness.agents.starts.map(({ mcpServers }) => mcpServers.wiki)).toEqual(
      Array(3).fill({ command: "wiki-mcp", args: [], env: { TOKEN: key } }),
    );
    expect(harness.gateways.grants.map(({ mcpServers }) => mcpServers.web?.headers)).toEqual(
      Array(3).fill({ "x-key": key }),
    );
    expect(run.answer).toBe("The key is [redacted].");
    expect(JSON.stringify([run, await harness.events(run.id)])).not.toContain(key);
  });

  test("no MCP server of a run gets the team's token for repositories", async () => {
    await aSecret("GITHUB_TOKEN", "the-token-of-the-team");
    const token = "$" + "{GITHUB_TOKEN}";

    const refused = [
      await perform({ forge: { url: "https://forge.example/mcp", headers: { authorization: token } } }),
      await perform({ forge: { url: `https://forge.example/mcp?key=${token}` } }),
      await perform({ forge: { command: "forge-mcp", env: { TOKEN: token } } }),
    ];

    for (const run of refused) {
      expect(run).toMatchObject({
        state: "FAILED",
        statusMessage: { errorCode: "environment_setup_failed" },
      });
    }
    expect(JSON.stringify([harness.agents.starts, harness.gateways.grants])).not.toContain(
      "the-token-of-the-team",
    );
  });

  test("the agent reaches a remote MCP server through the gateway and learns no key", async () => {
    await aSecret("WIKI_KEY", "the-key-of-the-wiki");

    const run = await perform({
      wiki: { url: `https://wiki.example/mcp?k=${KEY}`, headers: { "X-Key": KEY } },
    });

    expect(harness.agents.starts[0]?.mcpServers).toEqual({ wiki: "remote" });
    expect(harness.gateways.grants[0]?.mcpServers).toEqual({
      wiki: {
        url: "https://wiki.example/mcp?k=the-key-of-the-wiki",
        headers: { "X-Key": "the-key-of-the-wiki" },
        urlSecrets: ["the-key-of-the-wiki"],
      },
    });
    expect(JSON.stringify([run, await harness.events(run.id)])).not.toContain("the-key-of-the-wiki");
  });

  test("an MCP server of the team gets secrets of the team, and none of the member who starts the run", async () => {
    const viewer = await harness.person();
    const { clock, secretBox: box, storage } = harness;
    const service = new McpServerService({ storage, box, clock });
    const config = { url: "https://wiki.example/mcp", headers: { "X-Key": KEY } };
    await service.create({ ...viewer, administrator: true }, { name: "wiki", config });
    await new SecretService({ storage, box, clock }).put(
      viewer,
      { name: "WIKI_KEY", isTeamOwned: false },
      "the-key-of-ada",
    );

    const refused = await perform({ wiki: { warp_id: "wiki" } });
    const own = await perform({ wiki: config });
    await aSecret("WIKI_KEY", "the-key-of-the-team");
    const allowed = await perform({ wiki: { warp_id: "wiki" } });

    expect(refused).toMatchObject({
      state: "FAILED",
      statusMessage: { message: 'MCP server "wiki" needs the secret WIKI_KEY.' },
    });
    expect([own.state, allowed.state]).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(harness.gateways.grants.map(({ mcpServers }) => mcpServers.wiki?.headers)).toEqual([
      { "X-Key": "the-key-of-ada" },
      { "X-Key": "the-key-of-the-team" },
    ]);
  });

  test.each(["constructor", "NOT_THERE"])(
    "an MCP server that needs the missing secret %s fails the run",
    async (name) => {
      const run = await perform({ wiki: { command: "w", env: { TOKEN: `$\{${name}}` } } });

      expect(run).toMatchObject({
        state: "FAILED",
        statusMessage: {
          errorCode: "environment_setup_failed",
          message: `MCP server "wiki" needs the secret ${name}.`,
        },
      });
      expect(harness.agents.starts).toEqual([]);
      expect(harness.gateways.opened).toEqual([]);
    },
  );

  test("an MCP server whose secret would break its headers fails the run without revealing it", async () => {
    await aSecret("WIKI_KEY", "two\nlines-of-key");

    const run = await perform({ wiki: { url: "https://wiki.example", headers: { A: KEY } } });

    expect(run).toMatchObject({
      state: "FAILED",
      statusMessage: {
        errorCode: "environment_setup_failed",
        message: expect.stringContaining("line break"),
      },
    });
    expect(run.statusMessage?.message).not.toContain("lines-of-key");
  });
});

describe("MCP servers in a request", () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`s${index}`, { command: "c" }]));

  test.each<[string, NonNullable<RunConfig["mcp_servers"]>, string]>([
    ["a name that is none", { "a/b": { command: "c" } }, "config.mcp_servers.a/b"],
    ["neither program nor address", { a: {} }, "config.mcp_servers.a"],
    ["both", { a: { command: "c", url: "https://x" } }, "config.mcp_servers.a"],
    ["an empty program", { a: { command: " " } }, "config.mcp_servers.a"],
    ["a secret in an argument", { a: { command: "c", args: [`--key=${KEY}`] } }, "config.mcp_servers.a"],
    ["a secret in the program's name", { a: { command: KEY } }, "config.mcp_servers.a"],
    ["a NUL", { a: { command: "c", args: ["a\0"] } }, "config.mcp_servers.a"],
    ["an endless argument", { a: { command: "c", args: ["x".repeat(5_000)] } }, "config.mcp_servers.a"],
    ["a variable that is none", { a: { command: "c", env: { "A=B": "" } } }, "config.mcp_servers.a"],
    ["another scheme", { a: { url: "file:///etc/passwd" } }, "config.mcp_servers.a"],
    ["a key in its address", { a: { url: "https://me:key@x" } }, "config.mcp_servers.a"],
    ["a header that is none", { a: { url: "https://x", headers: { "a b": "" } } }, "config.mcp_servers.a"],
    [
      "a header with a line break",
      { a: { url: "https://x", headers: { a: "b\r\nc: d" } } },
      "config.mcp_servers.a",
    ],
    ["too many", many, "config.mcp_servers"],
  ])("%s in the MCP servers of a request is refused", async (_what, servers, path) => {
    await expect(harness.create({ config: { mcp_servers: servers } })).rejects.toMatchObject({
      code: "invalid_request",
      options: { issues: [{ path }] },
    });
  });

  test("an MCP server of the team that does not exist is refused", async () => {
    const config = { mcp_servers: { wiki: { warp_id: "w" } } };

    await expect(harness.create({ config })).rejects.toMatchObject({
      code: "resource_not_found",
      message: expect.stringContaining('"wiki"'),
      options: { issues: [{ path: "config.mcp_servers.wiki.warp_id" }] },
    });
  });

  test.each([
    ["a url and a team's server", { url: "https://x", warp_id: "w" }],
    ["a program and a team's server", { command: "c", warp_id: "w" }],
  ])("an MCP server with %s is refused", async (_what, server) => {
    await expect(harness.create({ config: { mcp_servers: { wiki: server } } })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining('"wiki"'),
    });
  });
});

describe("an MCP server of the team", () => {
  async function aServer(config: McpServerConfig) {
    const { clock, secretBox: box, storage } = harness;
    const service = new McpServerService({ storage, box, clock });
    return service.create(await harness.person(), { name: "Our wiki", config });
  }

  test("an MCP server of the team is resolved when the run is prepared, by its uid or its name", async () => {
    await aSecret("WIKI_KEY", "the-key-of-the-wiki");
    const { id } = await aServer({ url: "https://wiki.example/mcp", headers: { A: "own-value", B: KEY } });

    const run = await perform({ a: { warp_id: id }, b: { warp_id: "Our wiki" } });

    const server = {
      url: "https://wiki.example/mcp",
      headers: { A: "own-value", B: "the-key-of-the-wiki" },
    };
    expect(harness.agents.starts[0]?.mcpServers).toEqual({ a: "remote", b: "remote" });
    expect(harness.gateways.grants[0]?.mcpServers).toEqual({ a: server, b: server });
    expect(run.config.mcp_servers).toEqual({ a: { warp_id: id }, b: { warp_id: "Our wiki" } });
  });

  test("the values of an MCP server of the team are removed from what the agent says", async () => {
    await aServer({ command: "wiki-mcp", env: { TOKEN: "value-of-the-team" } });
    harness.agents.scripts.push(async ({ say }) => {
      say("It is value-of-the-team.");
      return END_TURN;
    });

    const run = await perform({ wiki: { warp_id: "Our wiki" } });

    expect(harness.agents.starts[0]?.mcpServers).toMatchObject({
      wiki: { env: { TOKEN: "value-of-the-team" } },
    });
    const log = JSON.stringify(await harness.events(run.id));
    expect(log).not.toContain("value-of-the-team");
    expect(log).toContain("It is [redacted].");
  });

  test("a run whose MCP server was deleted fails", async () => {
    const { id, teamId } = await aServer({ command: "wiki-mcp" });
    const { id: runId } = await harness.create({ config: { mcp_servers: { wiki: { warp_id: id } } } });
    await quiet();
    await harness.storage.mcpServers.remove(teamId, id);

    await harness.followUp(runId, "Again.");

    expect(await harness.run(runId)).toMatchObject({
      state: "FAILED",
      statusMessage: { errorCode: "environment_setup_failed", message: expect.stringContaining('"wiki"') },
    });
  });
});
