import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { openMcpServer } from "../../../src/core/model/secrets/mcp-server.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const SERVERS = "/api/v1/agent/mcp-servers";
const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const CONFIG = {
  url: "https://wiki.example.com/mcp",
  headers: { authorization: "Bearer canary", "x-team": "canary-2" },
  auth: { tokens: ["canary-3"] },
};

async function create(members: object = {}) {
  return call(harness, SERVERS, { body: { name: randomUUID(), config: CONFIG, ...members } });
}

/** The configuration as a worker opens it. */
async function opened(uid: string) {
  const server = await harness.storage.mcpServers.find(FIRST_TEAM, uid);
  return server && openMcpServer(harness.secrets, server);
}

describe("the MCP servers of a team", () => {
  test("an MCP server is created, listed by name, shown, replaced and deleted", async () => {
    const made = await create({ name: "B wiki", description: "Searches" });
    await create({ name: "A wiki" });
    const at = `${SERVERS}/${made.body.uid}`;

    const list = await call(harness, SERVERS);
    const replaced = await call(harness, at, {
      method: "PUT",
      body: { name: "C wiki", config: { command: "c" } },
    });
    const shown = await call(harness, at);
    const deleted = await call(harness, at, { method: "DELETE" });

    expect([made.status, replaced.status, shown.status, deleted.status]).toEqual([201, 200, 200, 204]);
    expect(made.body).toEqual({
      uid: expect.any(String),
      name: "B wiki",
      description: "Searches",
      config: {
        url: CONFIG.url,
        headers: { authorization: "[redacted]", "x-team": "[redacted]" },
        auth: { tokens: ["[redacted]"] },
      },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      created_by: expect.any(String),
    });
    expect(list.body.mcp_servers.map(({ name }: { name: string }) => name)).toEqual(["A wiki", "B wiki"]);
    expect(shown.body).toEqual(replaced.body);
    expect(shown.body).toMatchObject({ name: "C wiki", config: { command: "c" } });
    expect(shown.body).not.toHaveProperty("description");
    expect([deleted.text, (await call(harness, at)).status]).toEqual(["", 404]);
    expect((await call(harness, at, { method: "DELETE" })).status).toBe(404);
  });

  test("a value that is shown as redacted and sent back stays, and another one is replaced", async () => {
    const { body } = await create();
    const config = { ...body.config, headers: { ...body.config.headers, "x-team": "new", extra: "more" } };

    const answer = await call(harness, `${SERVERS}/${body.uid}`, {
      method: "PUT",
      body: { name: body.name, config },
    });

    expect(answer.status).toBe(200);
    expect(await opened(body.uid)).toEqual({
      ...CONFIG,
      headers: { authorization: "Bearer canary", "x-team": "new", extra: "more" },
    });
  });

  test("a redacted value is not kept for another address", async () => {
    const { body } = await create();
    const config = { ...body.config, url: "https://other.example/mcp" };

    const answer = await call(harness, `${SERVERS}/${body.uid}`, {
      method: "PUT",
      body: { name: body.name, config },
    });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "config.headers.authorization"]);
    expect(await opened(body.uid)).toMatchObject({ url: CONFIG.url });
  });

  test("a redacted value without a value to keep is refused", async () => {
    const { body } = await create();
    const headers = { other: "[redacted]" };

    const answers = [
      await create({ config: { command: "c", env: { A: "[redacted]" } } }),
      await call(harness, `${SERVERS}/${body.uid}`, {
        method: "PUT",
        body: { name: body.name, config: { url: CONFIG.url, headers } },
      }),
    ];

    expect(answers.map(({ body, status }) => [status, body.issues[0].path])).toEqual([
      [400, "config.env.A"],
      [400, "config.headers.other"],
    ]);
  });

  test("no value is in an answer, in the log or readable in the database, also under an Idempotency-Key", async () => {
    const name = randomUUID();
    const send = () =>
      call(harness, SERVERS, { body: { name, config: CONFIG }, headers: { "idempotency-key": name } });

    const [first, again] = [await send(), await send()];

    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    const stored = await harness.storage.mcpServers.find(FIRST_TEAM, first.body.uid);
    expect(`${first.text}${JSON.stringify(stored)}${harness.logged.join("")}`).not.toContain("canary");
  });

  test.each<[string, object, string]>([
    ["neither a command nor a url", {}, "config"],
    ["a command and a url", { command: "c", url: "https://x" }, "config"],
    ["a reference to another server", { warp_id: "x" }, "config"],
    ["a url that is none", { url: "file:///etc" }, "config"],
  ])("%s as an MCP server of a team is refused with the name of the server", async (_what, config, path) => {
    const { body, status } = await create({ name: "Odd one", config });

    expect([status, body.issues[0].path]).toEqual([400, path]);
    expect(body.error).toContain("Odd one");
  });

  test("a name is unique in its team", async () => {
    const { body } = await create();

    const answer = await create({ name: body.name });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "name"]);
  });
});

describe("a run that names an MCP server of its team", () => {
  async function run(server: object) {
    return call(harness, RUNS, { body: { prompt: "x", config: { mcp_servers: { wiki: server } } } });
  }

  test("a run names the server by uid or by name and gives back what was sent", async () => {
    const { body } = await create({ name: "The wiki" });

    const answers = [await run({ warp_id: body.uid }), await run({ warp_id: "The wiki" })];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const shown = await call(harness, `${RUNS}/${answers[1]?.body.run_id}`);
    expect(shown.body.agent_config.mcp_servers).toEqual({ wiki: { warp_id: "The wiki" } });
    expect(shown.text).not.toContain("canary");
  });

  test("an unknown server, or one of another team, is 404", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: teamId, sharing: "off", createdAt: new Date() });
    const key = await harness.addUser("elsewhere", { teamId, scopes: ["settings:write"] });
    const other = await call(harness, SERVERS, { key, body: { name: "Theirs", config: { command: "c" } } });

    const answers = [await run({ warp_id: other.body.uid }), await run({ warp_id: "Theirs" })];

    expect(answers.map(({ body, status }) => [status, body.code])).toEqual([
      [404, "resource_not_found"],
      [404, "resource_not_found"],
    ]);
    expect(answers[0]?.body.error).toContain('"wiki"');
  });

  test.each([[{ warp_id: "x", url: "https://x" }], [{ warp_id: "x", command: "c" }], [{}]])(
    "the MCP server %j of a run is refused with the name of the server",
    async (server) => {
      const { body, status } = await run(server);

      expect([status, body.issues[0].path]).toEqual([400, "config.mcp_servers.wiki"]);
      expect(body.error).toContain('"wiki"');
    },
  );

  test("variables and headers beside the reference are named as ignored", async () => {
    await create({ name: "Plain" });

    const { body } = await run({ warp_id: "Plain", env: { A: "b" }, headers: { a: "b" } });

    expect(body.ignored).toEqual(["config.mcp_servers.wiki.env", "config.mcp_servers.wiki.headers"]);
  });
});
