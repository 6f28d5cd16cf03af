import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { aPolicy, aRoutingRule } from "../../support/rule-builders.ts";
import { type Answer, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
let member: string;
const people = new PeopleCaller(() => harness);
const { ask } = people;
beforeAll(async () => {
  harness = await startHarness();
  member = await harness.addUser("member", { scopes: ["runs:write", "settings:read"] });
});
afterAll(() => harness.close());

async function anAgent(body: object = {}): Promise<Answer["body"]> {
  const answer = await ask("/identities", { body: { name: "Reviewer", ...body } });
  if (answer.status !== 200) {
    throw new Error(answer.text);
  }
  return answer.body;
}

async function keyOf(uid: string): Promise<string> {
  return (await people.aKey({ principal_uid: uid, scopes: ["runs:write"] })).key;
}

async function startedRun(body: object, key?: string): Promise<Answer["body"]> {
  const id = await createRun(harness, body, key === undefined ? {} : { key });
  return (await ask(`/runs/${id}`)).body;
}

describe("a named agent", () => {
  test("an agent is created, listed, read and deleted", async () => {
    const values = {
      description: "Reviews pull requests",
      prompt: "Be strict.",
      base_model: "m-1",
      harness: { type: "demo", reasoning_level: "high" },
      mcp_servers: { tickets: { command: "tickets-mcp" } },
      skills: ["acme/skills:review"],
      secrets: [{ name: "REVIEW_TOKEN" }],
      worker_host: "big",
      on_behalf_of_enabled: true,
    };

    const agent = await anAgent(values);
    const [list, one] = [await ask("/identities"), await ask(`/identities/${agent.uid}`)];
    const removed = await people.remove(`/identities/${agent.uid}`);

    expect(agent).toEqual({
      ...values,
      uid: expect.any(String),
      name: "Reviewer",
      available: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      default_runner_uid: "",
      memory: { attached_stores: [], auto_memory: { enabled: false } },
    });
    expect(list.body.agents).toContainEqual(agent);
    expect([one.status, one.body]).toEqual([200, agent]);
    expect([removed.status, removed.text]).toEqual([204, ""]);
    expect((await ask(`/identities/${agent.uid}`)).status).toBe(404);
    expect((await ask("/identities")).body.agents).not.toContainEqual(agent);
    expect((await ask(`/principals/${agent.uid}`)).body).toMatchObject({ disabled: true });
  });

  test("a change keeps missing and null members, clears empty ones and replaces all others whole", async () => {
    const { uid } = await anAgent({
      ...{ prompt: "Be strict.", base_model: "m", description: "Old", worker_host: "big" },
      ...{ secrets: [{ name: "A" }], skills: ["acme/skills:review"] },
      mcp_servers: { one: { command: "one" }, two: { command: "two" } },
      harness: { type: "demo" },
    });

    const changed = await ask(`/identities/${uid}`, {
      method: "PUT",
      body: {
        ...{ prompt: null, base_model: "", worker_host: "", description: "New", harness: {} },
        ...{ secrets: [], mcp_servers: { three: { command: "three" } } },
      },
    });

    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      ...{ name: "Reviewer", prompt: "Be strict.", description: "New", secrets: [] },
      skills: ["acme/skills:review"],
    });
    expect(changed.body.mcp_servers).toEqual({ three: { command: "three" } });
    for (const cleared of ["base_model", "worker_host", "harness"]) {
      expect(changed.body).not.toHaveProperty(cleared);
    }
    expect((await ask(`/identities/${uid}`)).body).toEqual(changed.body);
  });

  test("members without effect are kept, given back and named as ignored", async () => {
    const unused = { harness_auth_secrets: { claude: "X" }, base_harness: "oz", credential_strategy: "any" };

    const answer = await ask("/identities", { body: { name: "Reviewer", ...unused } });

    expect(answer.body).toMatchObject({ ...unused, ignored: Object.keys(unused) });
    expect(answer.headers.get("errand-ignored")).toBe(Object.keys(unused).join(","));
    const { ignored: _ignored, ...kept } = answer.body;
    expect((await ask(`/identities/${answer.body.uid}`)).body).toEqual(kept);
  });

  test.each([
    [{ name: "" }, "name"],
    [{ environment_id: "nowhere" }, undefined],
    [{ harness: { type: "nobody" } }, "harness.type"],
    [{ secrets: [{ name: "PATH" }] }, "secrets.0.name"],
    [{ mcp_servers: { one: {} } }, "mcp_servers.one"],
  ])("an agent with %j is refused", async (body, path) => {
    const answer = await ask("/identities", { body: { name: "Reviewer", ...body } });

    expect(answer.status).toBe(path === undefined ? 404 : 400);
    expect(answer.body.issues?.[0].path).toBe(path);
  });

  test("a repeat of a request with its idempotency key creates and deletes an agent once", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = { name: "Once" };

    const [first, second] = [
      await ask("/identities", { body, headers }),
      await ask("/identities", { body, headers }),
    ];
    const path = `/identities/${first.body.uid}`;
    const removals = [
      await ask(path, { method: "DELETE", headers }),
      await ask(path, { method: "DELETE", headers }),
    ];

    expect(second.body).toEqual(first.body);
    expect(removals.map(({ status, text }) => [status, text])).toEqual([
      [204, ""],
      [204, ""],
    ]);
  });
});

describe("a run of a named agent", () => {
  test("a request takes the values that it leaves out from the agent, over those of the team", async () => {
    await harness.storage.routingRules.add(
      aRoutingRule({
        name: randomUUID(),
        match: { sources: ["API"], text: ["tidy-by-agent"] },
        config: { base_prompt: "Of the team.", idle_timeout_minutes: 7 },
      }),
    );
    const { uid } = await anAgent({ prompt: "Be strict.", base_model: "m-agent", worker_host: "big" });

    const run = await startedRun({
      prompt: "tidy-by-agent",
      agent_identity_uid: uid,
      config: { model_id: "m-run" },
    });

    expect(run.agent_config).toEqual({
      base_prompt: "Be strict.",
      model_id: "m-run",
      worker_host: "big",
      idle_timeout_minutes: 7,
    });
    expect(run.provenance.config_layers).toEqual({
      harness: "default",
      base_prompt: "agent",
      model_id: "request",
      worker_host: "agent",
      idle_timeout_minutes: "routing_rule",
    });
    expect(run.executor).toEqual({ uid, type: "service_account", display_name: "Reviewer" });
    expect(run.creator.uid).not.toBe(uid);
    expect(run.agent).toEqual({ name: "demo", model_id: "m-run" });
  });

  test("the harness of an agent does the work, and is not given back as if a caller had asked for it", async () => {
    const { uid } = await anAgent({ harness: { type: "codex" }, base_model: "m-codex" });

    const run = await startedRun({ agent_identity_uid: uid });
    const other = await startedRun({ agent_identity_uid: uid, config: { harness: { type: "demo" } } });

    expect([run.agent, run.agent_config]).toEqual([
      { name: "codex", model_id: "m-codex" },
      { model_id: "m-codex" },
    ]);
    expect([other.agent, other.agent_config]).toEqual([{ name: "demo" }, { harness: { type: "demo" } }]);
  });

  test("a run that names only a model or a reasoning level keeps the program of its agent", async () => {
    const { uid } = await anAgent({
      harness: { type: "codex", model_id: "m-agent", reasoning_level: "high" },
    });

    const run = await startedRun({
      prompt: "look",
      agent_identity_uid: uid,
      config: { harness: { model_id: "m-request" } },
    });

    expect(run.agent).toEqual({ name: "codex", model_id: "m-request" });
    expect(run.agent_config).toEqual({ harness: { model_id: "m-request" } });
  });

  test("a run with an agent's own key is a run of that agent, and the key starts no runs of others", async () => {
    const [agent, other] = [await anAgent({ prompt: "Be strict." }), await anAgent()];
    const key = await keyOf(agent.uid);

    const run = await startedRun({}, key);
    const refused = await ask("/runs", { body: { prompt: "x", agent_identity_uid: other.uid }, key });

    expect([run.creator.uid, run.executor.uid]).toEqual([agent.uid, agent.uid]);
    expect(run.agent_config).toEqual({ base_prompt: "Be strict." });
    expect(refused.status).toBe(403);
  });

  test("an unknown, deleted or malformed agent is 404, a disabled one 403", async () => {
    const [deleted, disabled] = [await anAgent(), await anAgent()];
    await people.remove(`/identities/${deleted.uid}`);
    await people.patch(`/principals/${disabled.uid}`, { disabled: true });
    const statusOf = async (agent_identity_uid: string) =>
      (await ask("/runs", { body: { prompt: "x", agent_identity_uid } })).status;

    expect(await Promise.all([randomUUID(), deleted.uid, "nobody", disabled.uid].map(statusOf))).toEqual([
      404, 404, 404, 403,
    ]);
    expect((await ask(`/identities/${disabled.uid}`)).body.available).toBe(false);
  });

  test("runs are listed by their executor, which is the creator unless another one is recorded", async () => {
    const { uid } = await anAgent();
    const { uid: me } = (await ask("/whoami", { key: member })).body.principal;
    const byAgent = await createRun(harness, { agent_identity_uid: uid }, { key: member });
    const byMe = await createRun(harness, {}, { key: member });
    const idsOf = async (query: string) =>
      (await ask(`/runs?${query}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);

    expect(await idsOf(`executor=${uid}`)).toEqual([byAgent]);
    expect(await idsOf(`executor=${me}&creator=${me}`)).toEqual([byMe]);
    expect(await idsOf("executor=nobody")).toEqual([]);
  });

  test("a run is not repeated after its agent with a list of secrets was deleted", async () => {
    const limited = await anAgent({ secrets: [{ name: "REVIEW_TOKEN" }] });
    const unlimited = await anAgent();
    const ids = [
      await createRun(harness, { agent_identity_uid: limited.uid }),
      await createRun(harness, { agent_identity_uid: unlimited.uid }),
    ];
    await people.remove(`/identities/${limited.uid}`);
    await people.remove(`/identities/${unlimited.uid}`);

    const answers = await Promise.all(ids.map((id) => ask(`/runs/${id}/retry`, { method: "POST" })));

    expect(answers.map(({ status }) => status)).toEqual([404, 200]);
    expect(answers[0]?.body).toMatchObject({ detail: "The agent of this run was deleted." });
  });

  test("a retried run has the same agent", async () => {
    const { uid } = await anAgent({ secrets: [{ name: "ONLY" }] });
    const id = await createRun(harness, { agent_identity_uid: uid });

    const again = await ask(`/runs/${id}/retry`, { method: "POST" });

    const run = await harness.storage.runs.find({ id: again.body.run_id });
    expect([run?.executorId, run?.secretNames]).toEqual([uid, ["ONLY"]]);
  });

  test("a policy about the agent applies, no matter who starts its runs", async () => {
    const { uid } = await anAgent();
    const match = { principals: [uid] };
    await harness.storage.policies.add(
      aPolicy({ name: randomUUID(), effect: "deny", reason: "Not yet.", match }),
    );

    const refused = await ask("/runs", { body: { prompt: "x", agent_identity_uid: uid } });

    expect([refused.status, refused.body.detail]).toEqual([403, "Not yet."]);
  });
});

describe("the keys of a named agent", () => {
  test("no process writes with a key of an agent from the moment that its deletion was answered", async () => {
    const { uid } = await anAgent();
    const key = await keyOf(uid);
    const other = await startHarness({ sharedWith: harness });
    const start = () =>
      fetch(`${other.url}/api/v1/agent/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: '{"prompt":"x"}',
      });
    try {
      const before = (await start()).status;
      await people.remove(`/identities/${uid}`);
      await people.patch(`/principals/${uid}`, { disabled: false });

      expect([before, (await start()).status]).toEqual([200, 401]);
    } finally {
      await other.close();
    }
  });

  test("there are no new keys for a deleted agent", async () => {
    const { uid } = await anAgent();
    await people.remove(`/identities/${uid}`);

    const answer = await ask("/keys", { body: { name: "x", scopes: ["runs:read"], principal_uid: uid } });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "principal_uid"]);
  });
});

describe("a run on behalf of a member", () => {
  test("an administrator names the member by uid or email address, in any case", async () => {
    const email = `${randomUUID()}@example.com`;
    const uid = await people.aPrincipal({ display_name: "Mira", email });
    const { uid: me } = (await ask("/whoami")).body.principal;

    const byUid = await startedRun({ on_behalf_of: uid });
    const byEmail = await startedRun({ on_behalf_of: email.toUpperCase() });

    for (const run of [byUid, byEmail]) {
      expect(run.creator).toEqual({ uid, type: "user", display_name: "Mira", email });
      expect(run.executor.uid).toBe(me);
    }
  });

  test("a named agent may do so if it has it enabled, nobody else may", async () => {
    const uid = await people.aPrincipal();
    const [allowed, forbidden] = [await anAgent({ on_behalf_of_enabled: true }), await anAgent()];
    const asked = async (key: string) =>
      (await ask("/runs", { body: { prompt: "x", on_behalf_of: uid }, key })).status;

    const run = await startedRun({ on_behalf_of: uid }, await keyOf(allowed.uid));

    expect([run.creator.uid, run.executor.uid]).toEqual([uid, allowed.uid]);
    expect([await asked(await keyOf(forbidden.uid)), await asked(member)]).toEqual([403, 403]);
  });

  test("an unknown or disabled member and a service account are 404", async () => {
    const disabled = await people.aPrincipal();
    await people.patch(`/principals/${disabled}`, { disabled: true });
    const { uid: account } = await anAgent();
    const statusOf = async (on_behalf_of: string) =>
      (await ask("/runs", { body: { prompt: "x", on_behalf_of } })).status;

    expect(await Promise.all([randomUUID(), "nobody@example.com", disabled, account].map(statusOf))).toEqual([
      404, 404, 404, 404,
    ]);
  });

  test("the member does not approve the run, even as an administrator", async () => {
    const uid = await people.aPrincipal({ administrator: true });
    const { key } = await people.aKey({ principal_uid: uid, scopes: ["admin"] });
    await harness.storage.policies.add(
      aPolicy({ name: randomUUID(), effect: "require_approval", match: { principals: [uid as never] } }),
    );
    const id = await createRun(harness, { on_behalf_of: uid });
    const { inputs_hash } = (await ask(`/runs/${id}`)).body.approval;
    const approve = (by?: string) =>
      ask(`/runs/${id}/approval`, {
        body: { approve: true, inputs_hash },
        ...(by === undefined ? {} : { key: by }),
      });

    const [byMember, byAdministrator] = [await approve(key), await approve()];

    expect([byMember.status, byAdministrator.status]).toEqual([403, 200]);
  });

  test("an administrator who names themself does not approve the run, and it is on record", async () => {
    const uid = await people.aPrincipal({ administrator: true });
    const { key } = await people.aKey({ principal_uid: uid, scopes: ["admin"] });
    await harness.storage.policies.add(
      aPolicy({ name: randomUUID(), effect: "require_approval", match: { principals: [uid as never] } }),
    );
    const id = await createRun(harness, { on_behalf_of: uid }, { key });
    const { inputs_hash } = (await ask(`/runs/${id}`)).body.approval;

    const answer = await ask(`/runs/${id}/approval`, { body: { approve: true, inputs_hash }, key });

    expect(answer.status).toBe(403);
    expect(await harness.storage.runs.find({ id: id as RunId })).toMatchObject({ requesterId: uid });
  });

  test("a run on behalf of a member continues no run that the member may not see", async () => {
    const uid = await people.aPrincipal();
    const hidden = await startedRun({ team: false });

    const body = { prompt: "x", on_behalf_of: uid };
    const continued = await ask("/runs", { body: { ...body, conversation_id: hidden.conversation_id } });
    const child = await ask("/runs", { body: { ...body, parent_run_id: hidden.run_id } });

    expect([continued.status, child.status]).toEqual([404, 404]);
    expect(await harness.storage.runs.find({ id: hidden.run_id as RunId })).toMatchObject({
      teamId: FIRST_TEAM,
    });
  });
});
