import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { openValues } from "../../../src/core/model/secrets/sealed-values.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
const KEY = "a-key-in-the-clear";
const SERVERS = {
  wiki: { url: "https://wiki.example/mcp", headers: { authorization: KEY, "x-secret": "$" + "{WIKI_KEY}" } },
  local: { command: "local-mcp", env: { TOKEN: KEY, EMPTY: "" } },
  // Members of a newer client.
  newer: {
    url: "https://newer.example/mcp",
    token: KEY,
    auth: { retries: 3, clients: [{ secret: KEY }, true] },
  },
};
const SHOWN = {
  wiki: { ...SERVERS.wiki, headers: { ...SERVERS.wiki.headers, authorization: "[redacted]" } },
  local: { ...SERVERS.local, env: { TOKEN: "[redacted]", EMPTY: "" } },
  newer: {
    ...SERVERS.newer,
    token: "[redacted]",
    auth: { retries: 3, clients: [{ secret: "[redacted]" }, true] },
  },
};
const ELSEWHERE = { ...SHOWN, wiki: { ...SHOWN.wiki, url: "https://elsewhere.example/mcp" } };

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const ask = (path: string, method = "GET", body?: object) =>
  call(harness, `/api/v1/agent${path}`, { method, ...(body === undefined ? {} : { body }) });

/** The text of all rows of a table. */
async function rowsOf(table: string): Promise<string> {
  const query = `SELECT to_json(t)::text AS row FROM ${table} t`;
  const { rows } = await withConnection(harness.databaseUrl, SESSION, (client) => client.query(query));
  return JSON.stringify(rows);
}

test("the credentials of a run's MCP servers are stored sealed and shown as redacted, also after a retry", async () => {
  const id = await createRun(harness, { config: { mcp_servers: SERVERS } });
  const again = (await ask(`/runs/${id}/retry`, "POST")).body.run_id;

  const runs = [await ask(`/runs/${id}`), await ask(`/runs/${again}`)];
  const list = await ask("/runs");

  for (const { body } of runs) {
    expect(body.agent_config.mcp_servers).toEqual(SHOWN);
  }
  expect(list.text).not.toContain(KEY);
  expect(list.text).not.toContain("sealed:");
  expect(await rowsOf("runs")).not.toContain(KEY);
  expect(await rowsOf("run_events")).not.toContain(KEY);
});

test.each([
  ["/schedules", "agent_config", { name: "s", cron_schedule: "0 0 * * *", prompt: "x", enabled: true }, "id"],
  ["/routing-rules", "config", { name: "r" }, "uid"],
  ["/identities", "mcp_servers", { name: "a" }, "uid"],
])(
  "a value that %s shows as redacted stays when it is sent back, but only for the same server",
  async (path, member, others, idName) => {
    const bodyOf = (servers: object) => ({
      ...others,
      [member]: member === "mcp_servers" ? servers : { mcp_servers: servers },
    });
    const serversOf = (body: Record<string, { mcp_servers?: object }>) =>
      member === "mcp_servers" ? body[member] : body[member]?.mcp_servers;

    const made = await ask(path, "POST", bodyOf(SERVERS));
    const place = `${path}/${made.body[idName] ?? made.body.id}`;
    const same = await ask(place, "PUT", bodyOf(SHOWN));
    const elsewhere = await ask(place, "PUT", bodyOf(ELSEWHERE));
    const nothing = await ask(path, "POST", bodyOf(SHOWN));
    const table = path === "/identities" ? "named_agents" : path.slice(1).replace("-", "_");

    expect(serversOf(made.body)).toEqual(SHOWN);
    expect([same.status, serversOf(same.body)]).toEqual([200, SHOWN]);
    for (const { body, status } of [elsewhere, nothing]) {
      expect([status, body.issues[0].message]).toEqual([400, "is [redacted], but there is no value to keep"]);
    }
    expect(elsewhere.body.issues[0].path).toContain("mcp_servers.wiki.headers.authorization");
    const rows = await rowsOf(table);
    expect(rows).not.toContain(KEY);
    expect(rows).toContain("sealed:");
  },
);

test.each(["sealed:", "sealed:v1.00000000.AAAA", "sealed:$" + "{TOKEN}"])(
  "the credential %j is sealed like any other and given to the run unchanged",
  async (text) => {
    const config = { mcp_servers: { local: { command: "local-mcp", env: { TOKEN: text } } } };
    const schedule = { name: text, cron_schedule: "0 0 * * *", prompt: "x", enabled: true };

    const id = await createRun(harness, { config });
    const again = (await ask(`/runs/${id}/retry`, "POST")).body.run_id;
    const made = await ask("/schedules", "POST", { ...schedule, agent_config: config });

    const stored = [
      await harness.storage.runs.find({ id: id as RunId }),
      await harness.storage.runs.find({ id: again as RunId }),
      await harness.storage.schedules.find(FIRST_TEAM, made.body.id),
    ];
    for (const record of stored) {
      const { servers } = openValues(harness.secrets, FIRST_TEAM, record?.config.mcp_servers ?? {});
      expect(servers).toEqual(config.mcp_servers);
    }
    expect((await ask(`/runs/${id}`)).text).not.toContain("sealed:");
  },
);

test("a run cannot be created with a redacted value", async () => {
  const answer = await ask("/runs", "POST", { prompt: "x", config: { mcp_servers: SHOWN } });

  expect([answer.status, answer.body.issues[0].path]).toEqual([
    400,
    "config.mcp_servers.wiki.headers.authorization",
  ]);
});
