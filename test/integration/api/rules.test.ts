import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { REFUSED_CONFIGS } from "../../support/rule-builders.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const POLICIES = "/api/v1/agent/policies";
const ROUTING = "/api/v1/agent/routing-rules";

let harness: ApiHarness;
let ann: string;
let annUid: string;
beforeAll(async () => {
  harness = await startHarness();
  ann = await harness.addUser("ann");
  annUid = (await call(harness, "/api/v1/agent/whoami", { key: ann })).body.principal.uid;
});
afterAll(() => harness.close());

beforeEach(async () => {
  for (const { builtin, id } of (await call(harness, POLICIES)).body.policies) {
    if (builtin === true) {
      continue;
    }
    await call(harness, `${POLICIES}/${id}`, { method: "DELETE" });
  }
});

async function add(root: string, body: object) {
  const answer = await call(harness, root, { body: { name: randomUUID(), ...body } });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

describe.each([
  [
    POLICIES,
    "policies",
    {
      effect: "deny",
      reason: "No.",
      refusal: "silent",
      match: { principal_types: ["user"], places: ["a*"] },
    },
  ],
  [ROUTING, "routing_rules", { config: { model_id: "m" }, match: { text: ["deploy"], sources: ["API"] } }],
])("%s", (root, list, rule) => {
  test("rules are created with defaults, listed in order, replaced completely and deleted", async () => {
    const name = randomUUID();
    const late = await add(root, { ...rule, name });
    const first = await add(root, { ...rule, priority: 1, enabled: false });
    expect(late).toMatchObject({ ...rule, name, priority: 100, enabled: true });
    expect((await call(harness, `${root}/${late.id}`)).body).toEqual(late);
    const listed = (await call(harness, root)).body[list].map(({ id }: { id: string }) => id);
    expect(listed.indexOf(first.id)).toBeLessThan(listed.indexOf(late.id));

    const body = root === POLICIES ? { name, effect: "allow" } : { name };
    const put = await call(harness, `${root}/${late.id}`, { method: "PUT", body });

    expect(put.body).toMatchObject({ ...body, match: {}, priority: 100, created_at: late.created_at });
    expect(put.body).not.toHaveProperty("reason");
    expect(put.body).not.toHaveProperty("refusal");
    const removed = await call(harness, `${root}/${late.id}`, { method: "DELETE" });
    expect([removed.status, removed.body]).toEqual([200, { success: true }]);
    expect((await call(harness, `${root}/${late.id}`)).status).toBe(404);
  });

  test("the name of a rule is unique within its team", async () => {
    const { id, name } = await add(root, rule);
    const other = await add(root, rule);

    const duplicate = await call(harness, root, { body: { ...rule, name } });
    const renamed = await call(harness, `${root}/${other.id}`, { method: "PUT", body: { ...rule, name } });
    const same = await call(harness, `${root}/${id}`, { method: "PUT", body: { ...rule, name } });

    expect([duplicate, renamed].map(({ status, body }) => [status, body.issues[0].path])).toEqual([
      [400, "name"],
      [400, "name"],
    ]);
    expect(same.status).toBe(200);
  });

  test("a rule with an unknown condition is refused, because an ignored condition would match too much", async () => {
    const answer = await call(harness, root, { body: { ...rule, name: "x", match: { principal: ["me"] } } });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  });

  test.each([{ places: [] }, { sources: ["PIGEON"] }, { installations: [""] }])(
    "rules with the condition %o are invalid",
    async (match) => {
      expect((await call(harness, root, { body: { ...rule, name: "x", match } })).status).toBe(400);
    },
  );

  test("only administrators of the team may read and change its rules", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: teamId, createdAt: new Date(), sharing: "off" });
    const { id } = await add(root, rule);
    const key = await harness.addUser(`chief ${root}`, { teamId, scopes: ["admin"] });
    const { id: chiefId, ...chief } = await harness.storage.people.ensure(
      teamId,
      `test:chief ${root}`,
      undefined,
    );
    await harness.storage.people.put({ ...chief, id: chiefId, administrator: true });

    expect((await call(harness, root, { key: ann })).status).toBe(403);
    const listed: { builtin?: true }[] = (await call(harness, root, { key })).body[list];
    expect(listed.filter(({ builtin }) => builtin !== true)).toEqual([]);
    for (const method of ["GET", "DELETE"]) {
      expect((await call(harness, `${root}/${id}`, { key, method })).status).toBe(404);
    }
    expect(
      (await call(harness, `${root}/${id}`, { key, method: "PUT", body: { ...rule, name: "x" } })).status,
    ).toBe(404);
  });
});

describe("a policy", () => {
  test("a policy that denies is answered with its reason, for create, follow-up and cancel", async () => {
    const runId = await createRun(harness);
    await add(POLICIES, {
      effect: "deny",
      reason: "Not today.",
      match: { principals: [annUid.toUpperCase()] },
    });
    const refused = [
      await call(harness, RUNS, { key: ann, body: { prompt: "x" } }),
      await call(harness, `${RUNS}/${runId}/followups`, { key: ann, body: { message: "x" } }),
      await call(harness, `${RUNS}/${runId}/cancel`, { key: ann, method: "POST" }),
    ];

    for (const { status, body, headers } of refused) {
      expect([status, body.code, body.detail, body.retryable]).toEqual([
        403,
        "not_authorized",
        "Not today.",
        false,
      ]);
      expect(headers.get("x-should-retry")).toBe("false");
    }
    expect((await call(harness, `${RUNS}/${runId}/followups`, { body: { message: "x" } })).status).toBe(200);
  });

  test("a policy that requires approval applies only to what gives an agent words", async () => {
    const body = { name: "x", effect: "require_approval", match: { actions: ["create", "cancel"] } };

    const answer = await call(harness, POLICIES, { body });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "match.actions"]);
  });

  test("only a policy that denies says how a refused message is answered", async () => {
    const of = (effect: string, refusal: string) =>
      call(harness, POLICIES, { body: { name: randomUUID(), effect, refusal } });

    const answers = [await of("allow", "silent"), await of("deny", "quietly"), await of("deny", "reaction")];

    expect(answers.map(({ status }) => status)).toEqual([400, 400, 201]);
  });

  test("evaluating policies has no effect", async () => {
    const other = await add(POLICIES, { effect: "allow", priority: 1, match: { sources: ["SLACK"] } });
    const policy = await add(POLICIES, {
      effect: "require_approval",
      priority: 2,
      reason: "Look first.",
      match: { principal_types: ["user"], environments: ["prod"] },
    });
    const evaluate = (body: object) => call(harness, `${POLICIES}/evaluate`, { body });
    const request = { action: "create", principal_uid: annUid, environment_id: "prod" };

    expect((await evaluate(request)).body).toEqual({
      effect: "require_approval",
      reason: "Look first.",
      policy: { id: policy.id, name: policy.name },
      considered: [
        { id: other.id, name: other.name, effect: "allow", matches: false, mismatch: "sources" },
        { id: policy.id, name: policy.name, effect: "require_approval", matches: true },
      ],
    });
    const { body: without } = await evaluate({ action: "create", environment_id: "prod" });
    expect([without.effect, without.considered[1].mismatch]).toEqual(["allow", "principal_types"]);
    expect((await evaluate({ ...request, source: "SLACK" })).body.effect).toBe("allow");
    expect((await evaluate({ action: "approve", principal_uid: annUid })).body.effect).toBe("deny");
    expect((await evaluate({ ...request, principal_uid: randomUUID() })).status).toBe(404);
    expect((await evaluate({ action: "fly" })).status).toBe(400);
    expect((await call(harness, `${POLICIES}/evaluate`, { body: request, key: ann })).status).toBe(403);
  });

  test("a policy may name bots by their ids, and an evaluation names one", async () => {
    const match = { bots: ["B1", "B2"], roles: ["bot"] };
    const policy = await add(POLICIES, { effect: "allow", priority: 1, match });
    const verdictOn = async (bot: string) => {
      const body = { action: "create", source: "SLACK", roles: ["bot"], bot };
      return (await call(harness, `${POLICIES}/evaluate`, { body })).body;
    };

    expect((await call(harness, `${POLICIES}/${policy.id}`)).body.match).toEqual(match);
    expect(await verdictOn("B2")).toMatchObject({ effect: "allow", policy: { id: policy.id } });
    expect(await verdictOn("B3")).toMatchObject({
      effect: "deny",
      considered: expect.arrayContaining([expect.objectContaining({ id: policy.id, mismatch: "bots" })]),
    });
  });
});

describe("a routing rule", () => {
  const ENVIRONMENT = "A".repeat(22);
  beforeAll(async () => {
    await harness.storage.environments.add(anEnvironment(ENVIRONMENT));
  });

  test("a routing rule configures an API request only if it names that source, and the run shows it", async () => {
    await add(ROUTING, { environment_id: ENVIRONMENT, priority: 1 });
    const rule = await add(ROUTING, {
      environment_id: ENVIRONMENT,
      config: { model_id: "m-rule", base_prompt: "Be brief." },
      match: { sources: ["API"], text: ["checkout"] },
    });

    const routed = await createRun(harness, { prompt: "Mend the Checkout", config: { model_id: "m" } });
    const plain = await createRun(harness, { prompt: "Mend the cart" });

    const { body } = await call(harness, `${RUNS}/${routed}`);
    expect(body.agent_config).toMatchObject({
      environment_id: ENVIRONMENT,
      model_id: "m",
      base_prompt: "Be brief.",
    });
    expect(body.provenance).toEqual({
      environment: { name: ENVIRONMENT, repositories: [] },
      routing: {
        environment: ENVIRONMENT,
        rule: rule.name,
        reason: "The first rule that matches: sources, text.",
      },
      config_layers: {
        harness: "default",
        environment_id: "routing_rule",
        model_id: "request",
        base_prompt: "routing_rule",
      },
    });
    expect((await call(harness, `${RUNS}/${plain}`)).body.agent_config).not.toHaveProperty("environment_id");
  });

  test("a routing rule names an existing environment of the team", async () => {
    const own = { ...anEnvironment("B".repeat(22)), ownerId: (await whoami()).uid };
    await harness.storage.environments.add(own);

    const unknown = await call(harness, ROUTING, { body: { name: "x", environment_id: "nowhere" } });
    const personal = await call(harness, ROUTING, { body: { name: "x", environment_id: own.id } });

    expect(unknown.status).toBe(404);
    expect([personal.status, personal.body.issues[0].path]).toEqual([400, "environment_id"]);
  });

  test.each(REFUSED_CONFIGS)(
    "a routing rule with %s is refused, and so is its evaluation",
    async (_what, config, status, path) => {
      const { id, name } = await add(ROUTING, { config: { model_id: "m" }, match: { text: ["never"] } });

      const refused = [
        await call(harness, ROUTING, { body: { name: randomUUID(), config } }),
        await call(harness, `${ROUTING}/${id}`, { method: "PUT", body: { name, config } }),
        await call(harness, `${ROUTING}/evaluate`, { body: { config } }),
      ];

      for (const answer of refused) {
        expect([answer.status, answer.body.issues[0].path], answer.text).toEqual([status, `config.${path}`]);
      }
      expect((await call(harness, `${ROUTING}/${id}`)).body.config).toEqual({ model_id: "m" });
    },
  );

  test("evaluating routing rules has no effect", async () => {
    const rule = await add(ROUTING, {
      priority: 0,
      environment_id: ENVIRONMENT,
      match: { integrations: ["github"], places: ["acme/web-*"] },
    });
    const request = { source: "GITHUB_WEBHOOK", integration: "github", place: "ACME/web-shop", text: "x" };

    const { body } = await call(harness, `${ROUTING}/evaluate`, { body: request });

    expect(body).toEqual({
      rule: { id: rule.id, name: rule.name },
      reason: "The first rule that matches: integrations, places.",
      config: { environment_id: ENVIRONMENT },
      config_layers: { harness: "default", environment_id: "routing_rule" },
      considered: [{ id: rule.id, name: rule.name, matches: true }],
    });
    const elsewhere = await call(harness, `${ROUTING}/evaluate`, { body: { ...request, place: "acme/api" } });
    expect(elsewhere.body.considered[0]).toEqual({
      id: rule.id,
      name: rule.name,
      matches: false,
      mismatch: "places",
    });
  });
});

async function whoami() {
  return (await call(harness, "/api/v1/agent/whoami")).body.principal;
}
