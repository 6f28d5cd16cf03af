import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { aRoutingRule } from "../../support/rule-builders.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const DEPLOY = ".agents/skills/deploy/SKILL.md";
const REVIEW = ".claude/skills/review/SKILL.md";
const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
  harness.skillLibrary.put("acme/tools", {
    [DEPLOY]: "---\nname: deploy\ndescription: Deploys.\n---\nDeploy it.",
    [REVIEW]: "---\nname: review\ndescription: Reviews.\n---\nReview it.",
  });
  harness.skillLibrary.put("acme/more", { [DEPLOY]: "Deploy that." });
  await harness.storage.environments.add(anEnvironment("environment000000000A", "acme/tools"));
  const match = { sources: ["API"], text: ["by the rule"] } as const;
  await harness.storage.routingRules.add(
    aRoutingRule({ match, config: { skill_spec: "acme/tools:review" } }),
  );
});
afterAll(() => harness.close());

async function create(members: Record<string, unknown>) {
  const answer = await call(harness, RUNS, { body: members });
  if (answer.status !== 200) {
    return answer;
  }
  return call(harness, `${RUNS}/${answer.body.run_id}`);
}

describe("a run that starts from a skill", () => {
  test.each([
    ["skill", { skill: "acme/tools:deploy" }],
    ["skill by its path", { skill: `acme/tools:${DEPLOY}` }],
    ["skill of a repository in an environment", { skill: "tools:deploy" }],
    ["config.skill_spec", { config: { skill_spec: "acme/tools:deploy" } }],
    [
      "skill before config.skill_spec",
      { skill: "tools:deploy", config: { skill_spec: "acme/tools:review" } },
    ],
  ])("a run from a skill named by %s shows the resolved skill", async (_how, members) => {
    const { body } = await create(members);

    expect(body).toMatchObject({
      state: "QUEUED",
      title: "deploy",
      prompt: "",
      agent_skill: { name: "deploy", description: "Deploys.", full_path: DEPLOY },
      agent_config: { name: "deploy", skill_spec: `acme/tools:${DEPLOY}` },
    });
  });

  test("a run from a skill keeps the prompt, title and name of its request", async () => {
    const config = { name: "mine", skill_spec: "acme/tools:deploy", base_prompt: "Softly." };

    const { body } = await create({ prompt: "The blue one", title: "Blue", config });

    expect(body).toMatchObject({ prompt: "The blue one", title: "Blue" });
    expect(body.agent_config).toMatchObject({ ...config, skill_spec: `acme/tools:${DEPLOY}` });
  });

  test.each<[string, Record<string, unknown>, Record<string, string>, string]>([
    ["the skill", { skill: "acme/tools:deploy" }, { skill_spec: "request", name: "skill" }, DEPLOY],
    [
      "the request",
      { skill: "tools:deploy", config: { name: "mine", skill_spec: "acme/tools:review" } },
      { skill_spec: "request", name: "request" },
      DEPLOY,
    ],
    [
      "the request beside a routing rule",
      { prompt: "By the rule", skill: "acme/tools:deploy" },
      { skill_spec: "request", name: "skill" },
      DEPLOY,
    ],
    ["a routing rule", { prompt: "By the rule" }, { skill_spec: "routing_rule", name: "skill" }, REVIEW],
  ])("a run from a skill shows that %s set its configuration", async (_who, members, layers, path) => {
    const { body } = await create(members);

    expect(body.provenance.config_layers).toEqual({ harness: "default", ...layers });
    expect(body.agent_config.skill_spec).toBe(`acme/tools:${path}`);
  });

  test("a run is found by the id of its skill and by words of the id", async () => {
    const { body } = await create({ skill: "acme/tools:review" });

    for (const query of [
      `skill=acme/tools:${REVIEW}`,
      `skill_spec=acme/tools:${REVIEW}`,
      "q=skills/review",
    ]) {
      const list = await call(harness, `${RUNS}?${query}`);
      expect(list.body.runs.map(({ run_id }: { run_id: string }) => run_id)).toContain(body.run_id);
    }
    expect((await call(harness, `${RUNS}?skill=acme/tools:${DEPLOY}x`)).body.runs).toEqual([]);
  });

  test("the same skill is recognized in every notation of its repository", async () => {
    const skill = ".agents/skills/Paint/SKILL.md";
    const names = ["acme/wall", "ACME/Wall"];
    for (const name of names) {
      harness.skillLibrary.put(name, { [skill]: "Paint it." });
    }
    const runs = [];
    for (const name of names) {
      runs.push((await create({ skill: `${name}:Paint` })).body);
    }

    for (const { agent_config } of runs) {
      expect(agent_config.skill_spec).toBe(`acme/wall:${skill}`);
    }
    for (const name of ["acme/wall", "Acme/WALL"]) {
      const { body } = await call(harness, `${RUNS}?skill=${name}:${skill}`);
      expect(body.runs).toHaveLength(2);
    }
    const { body } = await call(harness, `${RUNS}?skill=acme/wall:${skill.toLowerCase()}`);
    expect(body.runs).toEqual([]);
  });

  test.each([
    ["an unknown skill", { skill: "acme/tools:nothing" }],
    ["an unknown skill of the configuration", { config: { skill_spec: "acme/tools:nothing" } }],
    ["an unknown path", { skill: "acme/tools:a/SKILL.md" }],
    ["an unknown repository", { skill: "acme/nowhere:deploy" }],
    ["a repository in no environment", { skill: "more:deploy" }],
  ])("a run that names %s is answered 404 with a remedy", async (_what, members) => {
    const answer = await create({ prompt: "x", ...members });

    expect([answer.status, answer.body.code]).toEqual([404, "resource_not_found"]);
    expect(answer.body.remedy).toBeTruthy();
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });

  test.each([
    ["skill", { skill: "deploy" }],
    ["skill", { skill: "acme/tools:../../etc/SKILL.md" }],
    ["skill", { skill: "acme/tools:a/README.md" }],
    ["config.skill_spec", { config: { skill_spec: "--upload-pack=x:deploy" } }],
  ])("a run from a skill with a wrong %s is refused at that member", async (path, members) => {
    const answer = await create({ prompt: "x", ...members });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.issues[0].path).toBe(path);
  });

  test("one idempotency key creates one run from a skill, even if the skill has disappeared since", async () => {
    harness.skillLibrary.put("acme/brief", { [DEPLOY]: "Deploy." });
    const options = { body: { skill: "acme/brief:deploy" }, headers: { "idempotency-key": "skill-1" } };
    const first = await call(harness, RUNS, options);
    harness.skillLibrary.put("acme/brief", {});

    const again = await call(harness, RUNS, options);

    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replay")).toBe("true");
  });
});

describe("the list of skills", () => {
  test("the list has the skills of the environments, with their origin and where to use them", async () => {
    const { body, status } = await call(harness, "/api/v1/agent");

    expect(status).toBe(200);
    expect(body.agents.map(({ name }: { name: string }) => name)).toEqual(["deploy", "review"]);
    expect(body.agents[1]).toEqual({
      name: "review",
      variants: [
        {
          id: `acme/tools:${REVIEW}`,
          base_prompt: "Review it.",
          description: "Reviews.",
          environments: [{ uid: "environment000000000A", name: "environment000000000A" }],
          source: { owner: "acme", name: "tools", skill_path: REVIEW },
          last_run_timestamp: expect.any(String),
        },
      ],
    });
  });

  test("the list can be limited to one repository, whether or not an environment has it", async () => {
    const { body } = await call(harness, "/api/v1/agent?repo=acme/more&refresh=true");

    expect(body.agents).toHaveLength(1);
    expect(body.agents[0].variants[0]).toMatchObject({ id: `acme/more:${DEPLOY}`, environments: [] });
    expect(body.agents[0].variants[0]).not.toHaveProperty("last_run_timestamp");
  });

  test("the list can be sorted by the last run", async () => {
    for (const name of ["deploy", "review"]) {
      harness.clock.aheadMs += 1_000;
      await create({ skill: `acme/tools:${name}` });
    }

    const byRun = await call(harness, "/api/v1/agent?sort_by=last_run");

    expect(byRun.body.agents.map(({ name }: { name: string }) => name)).toEqual(["review", "deploy"]);
  });

  test("the list shows nothing of another team", async () => {
    const teamId = crypto.randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: teamId, createdAt: new Date(), sharing: "off" });
    const key = await harness.addUser("Eve", { teamId, scopes: ["runs:read"] });

    const all = await call(harness, "/api/v1/agent", { key });
    const named = await call(harness, "/api/v1/agent?repo=acme/tools", { key });

    expect(all.body.agents).toEqual([]);
    const variants = named.body.agents.flatMap((agent: { variants: object[] }) => agent.variants);
    expect(variants).toHaveLength(2);
    for (const variant of variants) {
      expect(variant).toMatchObject({ environments: [] });
      expect(variant).not.toHaveProperty("last_run_timestamp");
    }
  });

  test.each(["repo=acme", "repo=acme/tools/x", "repo=../x", "refresh=yes", "sort_by=age"])(
    "the list of skills is refused for ?%s",
    async (query) => {
      const answer = await call(harness, `/api/v1/agent?${query}`);

      expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    },
  );

  test("the skills of an unknown repository are not found, and reading them needs the scope for runs", async () => {
    const key = await harness.addUser("Sol", { scopes: ["settings:read"] });

    expect((await call(harness, "/api/v1/agent?repo=acme/nowhere")).status).toBe(404);
    expect((await call(harness, "/api/v1/agent", { key })).status).toBe(403);
    expect((await call(harness, "/api/v1/agent", { key: null })).status).toBe(401);
  });
});

describe("a run with config.skills", () => {
  const both = ["acme/tools:deploy", `tools:${REVIEW}`];

  test("a run with skills and a prompt shows them by their full ids and starts from none", async () => {
    const { body } = await create({ prompt: "Do it", config: { skills: both } });

    expect(body.agent_config.skills).toEqual([`acme/tools:${DEPLOY}`, `acme/tools:${REVIEW}`]);
    expect(body.agent_config).not.toHaveProperty("skill_spec");
    expect(body).not.toHaveProperty("agent_skill");
  });

  test("without a prompt the first skill is the task and comes back as skill_spec too", async () => {
    const answer = await call(harness, RUNS, { body: { config: { skills: both } } });
    const { body } = await call(harness, `${RUNS}/${answer.body.run_id}`);

    expect(answer.body).not.toHaveProperty("ignored");
    expect(body).toMatchObject({
      title: "deploy",
      prompt: "",
      agent_skill: { name: "deploy", full_path: DEPLOY },
      agent_config: { name: "deploy", skill_spec: `acme/tools:${DEPLOY}` },
    });
    expect(body.agent_config.skills).toHaveLength(2);
  });

  test.each<[string, object, number, string]>([
    ["skill_spec", { skill_spec: "acme/tools:deploy", skills: both }, 400, "config.skills"],
    ["a skill that is none", { skills: ["acme/tools:deploy", "x"] }, 400, "config.skills.1"],
    ["too many skills", { skills: Array(51).fill("acme/tools:deploy") }, 400, "config.skills"],
  ])("skills with %s are refused", async (_what, config, status, path) => {
    const answer = await create({ prompt: "x", config });

    expect([answer.status, answer.body.issues[0].path]).toEqual([status, path]);
  });

  test("an unknown skill is the same error as an unknown skill_spec", async () => {
    const answers = [
      await create({ prompt: "x", config: { skills: ["acme/tools:nothing"] } }),
      await create({ prompt: "x", config: { skill_spec: "acme/tools:nothing" } }),
    ];

    expect(answers.map(({ body, status }) => [status, body.detail])).toEqual([
      [404, answers[1]?.body.detail],
      [404, expect.stringContaining("nothing")],
    ]);
  });

  test("a retry has the same skills", async () => {
    const { body } = await call(harness, RUNS, { body: { config: { skills: both } } });
    const { agent_config } = (await call(harness, `${RUNS}/${body.run_id}`)).body;

    const retried = await call(harness, `${RUNS}/${body.run_id}/retry`, { method: "POST" });

    const { body: item } = await call(harness, `${RUNS}/${retried.body.run_id}`);
    expect(item.agent_config).toEqual(agent_config);
  });
});
