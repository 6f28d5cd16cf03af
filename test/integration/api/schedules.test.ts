import { randomUUID } from "node:crypto";
import OzAPI from "oz-agent-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PrincipalId, TeamId } from "../../../src/core/basics/ids.ts";
import type { Scope } from "../../../src/core/model/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { REFUSED_CONFIGS } from "../../support/rule-builders.ts";
import { type Call, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const ROOT = "/api/v1/agent/schedules";
const WANTED = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Tidy up" };

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

async function create(body: object = {}, options: Call = {}) {
  const answer = await call(harness, ROOT, { body: { ...WANTED, ...body }, ...options });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function aNamedAgent(): Promise<PrincipalId> {
  const createdAt = new Date();
  const { id } = await harness.storage.people.ensure(FIRST_TEAM, `test:${randomUUID()}`, "Tidier");
  await harness.storage.namedAgents.add({
    ...{ id, teamId: FIRST_TEAM, config: {}, secretNames: [], onBehalfOfEnabled: false, others: {} },
    ...{ createdAt, updatedAt: createdAt },
  });
  return id;
}

describe("a schedule", () => {
  test("a schedule is created with defaults and shows its next run", async () => {
    const created = await create();

    expect(created).toMatchObject({
      ...WANTED,
      enabled: true,
      agent_config: {},
      created_by: { display_name: "Administrator", type: "user" },
      updated_by: { display_name: "Administrator" },
      scope: { type: "Team" },
      history: { next_run: expect.stringMatching(/T03:00:00\.000Z$/) },
    });
    expect(created).not.toHaveProperty("last_spawn_error");
    expect((await call(harness, `${ROOT}/${created.id}`)).body).toEqual(created);
  });

  test("a schedule with a pull request that the team cannot open is refused when it is saved", async () => {
    const agent_config = { repository: "acme/private", pull_request: "draft" };
    const { id } = await create();

    const answers = [
      await call(harness, ROOT, { body: { ...WANTED, agent_config } }),
      await call(harness, `${ROOT}/${id}`, {
        method: "PUT",
        body: { ...WANTED, enabled: true, agent_config },
      }),
      await call(harness, "/api/v1/agent/routing-rules", { body: { name: "pulls", config: agent_config } }),
    ];

    expect(answers.map(({ status, body }) => [status, body.code, body.issues[0].path])).toEqual([
      [400, "integration_not_configured", "agent_config.pull_request"],
      [400, "integration_not_configured", "agent_config.pull_request"],
      [400, "integration_not_configured", "config.pull_request"],
    ]);
  });

  test("a schedule keeps its mode and its agent, and PUT without them removes them", async () => {
    const agent = await aNamedAgent();

    const created = await create({ mode: "plan", agent_uid: agent });
    const shown = await call(harness, `${ROOT}/${created.id}`);
    const paused = await call(harness, `${ROOT}/${created.id}/pause`, { method: "POST" });
    const body = { ...WANTED, enabled: true };
    const replaced = await call(harness, `${ROOT}/${created.id}`, { method: "PUT", body });

    expect(shown.body).toMatchObject({ mode: "plan", agent_uid: agent });
    expect(paused.body).toMatchObject({ mode: "plan", agent_uid: agent });
    expect(replaced.body).not.toHaveProperty("mode");
    expect(replaced.body).not.toHaveProperty("agent_uid");
  });

  test.each<[string, object, number]>([
    ["an unknown agent", { agent_uid: randomUUID() }, 404],
    ["an agent that is no id", { agent_uid: "x" }, 404],
    ["an unknown mode", { mode: "fast" }, 400],
    ["an unknown MCP server of the team", { agent_config: { mcp_servers: { a: { warp_id: "w" } } } }, 404],
    ["a skill in both forms", { agent_config: { skill_spec: "acme/web:a", skills: ["acme/web:b"] } }, 400],
  ])("a schedule with %s is refused", async (_what, members, status) => {
    expect((await call(harness, ROOT, { body: { ...WANTED, ...members } })).status).toBe(status);
  });

  test("a schedule without a prompt starts from the first of its skills", async () => {
    const { prompt: _prompt, ...others } = WANTED;
    const agent_config = { skills: ["acme/web:tidy"] };

    const { status } = await call(harness, ROOT, { body: { ...others, agent_config } });

    expect(status).toBe(201);
  });

  test("a schedule names sharing as ignored, because it has no caller to give an address to", async () => {
    const agent_config = { session_sharing: { public_access: "VIEWER" } };

    const { headers } = await call(harness, ROOT, { body: { ...WANTED, agent_config } });

    expect(headers.get("errand-ignored")).toBe("agent_config.session_sharing");
  });

  test("a schedule keeps its configuration and metadata and is replaced completely", async () => {
    const config = { model_id: "m", harness: { type: "codex" }, later_members: { are: "kept" } };
    const created = await create({ agent_config: config, metadata: { ticket: "OPS-1" } });
    expect(created).toMatchObject({ agent_config: config, metadata: { ticket: "OPS-1" } });

    const body = { ...WANTED, name: "Hourly", cron_schedule: "0 * * * *", enabled: false };
    const put = await call(harness, `${ROOT}/${created.id}`, { method: "PUT", body });

    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({ ...body, agent_config: {}, history: {} });
    expect(put.body).not.toHaveProperty("metadata");
    expect(put.body.created_at).toBe(created.created_at);
    const again = await call(harness, `${ROOT}/${created.id}`, { method: "PUT", body });
    expect(again.body).toEqual(put.body);
  });

  test("a schedule shows the environment of its runs to callers who may see the environment", async () => {
    const id = "A".repeat(22);
    await harness.storage.environments.add(anEnvironment(id, "acme/web"));

    const created = await create({ agent_config: { environment_id: id } });

    expect(created.environment).toMatchObject({ name: id, github_repos: [{ owner: "acme", repo: "web" }] });
    await harness.storage.environments.remove(FIRST_TEAM, id);
    expect((await call(harness, `${ROOT}/${created.id}`)).body).not.toHaveProperty("environment");
  });

  test.each<[string, readonly Scope[], number]>([
    ["that may not administer", ["runs:write"], 404],
    ["that may", ["admin"], 200],
  ])(
    "a schedule in another user's environment is refused, by an administrator's key %s",
    async (_how, scopes, asRun) => {
      const body = { config: { name: "Ann's" }, team: false };
      const key = await harness.addUser("ann", { scopes: ["settings:write"] });
      const { uid: environment_id } = (await call(harness, "/api/v1/agent/environments", { body, key })).body;
      const created = (await call(harness, "/api/v1/agent/keys", { body: { name: "x", scopes } })).body;
      const { id } = await create();
      const as = (path: string, members: object, method = "POST") =>
        call(harness, path, { method, body: { ...WANTED, enabled: true, ...members }, key: created.key });

      const agent_config = { environment_id };
      const run = await as("/api/v1/agent/runs", { config: agent_config });
      const refused = [
        await as(ROOT, { agent_config }),
        await as(`${ROOT}/${id}`, { agent_config }, "PUT"),
        await as(ROOT, { agent_config: { environment_id: "gone" } }),
      ];

      expect(run.status).toBe(asRun);
      for (const { body, status } of refused) {
        expect([status, body.code, body.detail]).toEqual([
          404,
          "resource_not_found",
          "There is no such environment.",
        ]);
      }
      expect((await call(harness, `${ROOT}/${id}`)).body.agent_config).toEqual({});
    },
  );

  test("a schedule is paused and resumed, repeatedly, with a JSON content type and no body", async () => {
    const { id } = await create();
    const post = (what: string) =>
      call(harness, `${ROOT}/${id}/${what}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });

    const [paused, pausedAgain] = [await post("pause"), await post("pause")];
    const [resumed, resumedAgain] = [await post("resume"), await post("resume")];

    expect([paused.status, paused.body.enabled, paused.body.history]).toEqual([200, false, {}]);
    expect(pausedAgain.body).toEqual(paused.body);
    expect([resumed.status, resumed.body.enabled]).toEqual([200, true]);
    expect(resumed.body.history.next_run).toMatch(/T03:00:00/);
    expect(resumedAgain.body).toEqual(resumed.body);
  });

  test("a deleted schedule is not found by a second delete", async () => {
    const { id } = await create();
    const remove = () => call(harness, `${ROOT}/${id}`, { method: "DELETE" });

    const [first, second] = [await remove(), await remove()];

    expect([first.status, first.body]).toEqual([200, { success: true }]);
    expect([second.status, (await call(harness, `${ROOT}/${id}`)).status]).toEqual([404, 404]);
  });

  test("one idempotency key creates one schedule", async () => {
    const headers = { "idempotency-key": randomUUID() };

    const [first, second] = [await create({}, { headers }), await create({}, { headers })];

    expect(second).toEqual(first);
  });

  test("a schedule starts from a skill instead of a prompt", async () => {
    const body = { prompt: undefined, agent_config: { skill_spec: "acme/web:tidy" } };

    expect(await create(body)).toMatchObject({ prompt: "", agent_config: { skill_spec: "acme/web:tidy" } });
  });

  test.each<[string, object, string]>([
    ["no name", { name: "" }, "name"],
    ["no cron expression", { cron_schedule: undefined }, "cron_schedule"],
    ["an alias", { cron_schedule: "@daily" }, "cron_schedule"],
    ["seconds", { cron_schedule: "0 0 3 * * *" }, "cron_schedule"],
    ["a time that never comes", { cron_schedule: "0 0 31 2 *" }, "cron_schedule"],
    ["nothing to do", { prompt: " " }, "prompt"],
    ["a wrong switch", { enabled: "yes" }, "enabled"],
    ["wrong metadata", { metadata: { "no key": "x" } }, "metadata.no key"],
    [
      "a wrong configuration",
      { agent_config: { idle_timeout_minutes: -1 } },
      "agent_config.idle_timeout_minutes",
    ],
  ])("a schedule with %s is invalid, and the field is named", async (_what, members, path) => {
    const answer = await call(harness, ROOT, { body: { ...WANTED, ...members } });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.issues[0].path).toBe(path);
  });

  test.each(REFUSED_CONFIGS)(
    "a schedule with %s is refused as its runs would be",
    async (_what, agent_config, status, path) => {
      const { id } = await create();
      const body = { ...WANTED, enabled: true, agent_config };

      const refused = [
        await call(harness, ROOT, { body }),
        await call(harness, `${ROOT}/${id}`, { method: "PUT", body }),
      ];

      for (const answer of refused) {
        expect([answer.status, answer.body.issues[0].path]).toEqual([status, `agent_config.${path}`]);
      }
    },
  );

  test("replacing a schedule requires the member that enables it", async () => {
    const { id } = await create();

    const answer = await call(harness, `${ROOT}/${id}`, { method: "PUT", body: WANTED });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "enabled"]);
  });
});

describe("visibility and changes of a schedule", () => {
  test("the team sees a schedule by name, and its creator and administrators change it", async () => {
    const { id } = await create({ name: "zeta" }, { key: ann });
    await create({ name: "Alpha" }, { key: ann });

    const seen = await call(harness, ROOT, { key: ben });
    const names = seen.body.schedules.map(({ name }: { name: string }) => name);
    const denied = await call(harness, `${ROOT}/${id}/pause`, { method: "POST", key: ben });
    const allowed = await call(harness, `${ROOT}/${id}/pause`, { method: "POST" });

    expect(names).toEqual(
      names.toSorted((a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
    );
    expect(names).toContain("zeta");
    expect([denied.status, denied.body.code]).toEqual([403, "not_authorized"]);
    expect([allowed.status, allowed.body.updated_by.display_name]).toEqual([200, "Administrator"]);
    expect(allowed.body.created_by.display_name).toBe("ann");
  });

  test("a personal schedule is visible only to its creator and to administrators", async () => {
    const { id, scope } = await create({ team: false }, { key: ann });
    const statusOf = async (key: string) => (await call(harness, `${ROOT}/${id}`, { key })).status;

    expect(scope).toMatchObject({ type: "User" });
    expect([await statusOf(ann), await statusOf(ben), await statusOf(harness.key)]).toEqual([200, 404, 200]);
  });

  test("a schedule is hidden from other teams", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
    const stranger = await harness.addUser("stranger", { teamId });
    const { id } = await create();
    const answers = [
      await call(harness, `${ROOT}/${id}`, { key: stranger }),
      await call(harness, `${ROOT}/${id}`, { key: stranger, method: "DELETE" }),
      await call(harness, `${ROOT}/${id}/resume`, { key: stranger, method: "POST" }),
      await call(harness, `${ROOT}/nonsense`, { key: stranger }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ body }) => body.detail))).toEqual(new Set(["There is no such schedule."]));
    expect((await call(harness, ROOT, { key: stranger })).body).toMatchObject({ schedules: [] });
  });

  test("a key that may only read creates no schedule", async () => {
    const reader = await harness.addUser("reader", { scopes: ["runs:read", "settings:write"] });

    expect((await call(harness, ROOT, { key: reader, body: WANTED })).status).toBe(403);
    expect((await call(harness, ROOT, { key: reader })).status).toBe(200);
  });
});

test("the public client of this API creates, changes and lists schedules", async () => {
  const { schedules } = new OzAPI({ baseURL: `${harness.url}/api/v1`, apiKey: harness.key, maxRetries: 0 })
    .agent;

  const created = await schedules.create(WANTED);
  const changed = await schedules.update(created.id, { ...WANTED, enabled: false });
  const resumed = await schedules.resume(created.id);
  const { schedules: listed } = await schedules.list();
  const removed = await schedules.delete(created.id);

  expect([changed.enabled, resumed.enabled]).toEqual([false, true]);
  expect(listed.map(({ id }) => id)).toContain(created.id);
  expect(removed).toEqual({ success: true });
});
