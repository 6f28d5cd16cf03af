import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { Policy } from "../../../../src/core/model/policies/policy.ts";
import type { PermissionRequest } from "../../../../src/core/model/runs/agent-update.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import { retryOf } from "../../../../src/core/requests/prepare/retry-of.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { anEnvironment } from "../../../support/environment-builders.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { aPolicy, aRoutingRule } from "../../../support/rule-builders.ts";
import { END_TURN } from "../../../support/scripted-agents.ts";

const REFUSED = { code: "not_authorized", message: "Not today." };
const QUESTION: PermissionRequest = {
  permissionId: "p1",
  title: "May I?",
  options: [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ],
};

const ANY_WORKER = { host: undefined, disk: undefined, except: [] };
let harness: CoreHarness;
let ada: Principal;
let bob: Principal;
let chief: Principal;
beforeEach(async () => {
  harness = new CoreHarness();
  for (const id of ["env-prod", "env-dev"]) {
    await harness.storage.environments.add(anEnvironment(id));
  }
  [ada, bob] = [await harness.person("Ada"), await harness.person("Bob")];
  chief = { ...(await harness.person("Chief")), administrator: true };
});

describe("an action that a policy forbids", () => {
  test("a forbidden creation starts no run", async () => {
    await forbid({ match: { actions: ["create"], principals: [ada.id] } });

    await expect(harness.create({ creator: ada })).rejects.toMatchObject(REFUSED);

    expect(await harness.storage.claims.reserveNext(ANY_WORKER)).toBe("empty");
    expect(await harness.create({ creator: bob })).toMatchObject({ state: "QUEUED" });
  });

  test("a policy is evaluated with the environment and agent that the run gets", async () => {
    await forbid({ match: { environments: ["env-prod"], agents: ["scripted"] } });

    await expect(harness.create({ config: { environment_id: "env-prod" } })).rejects.toMatchObject(REFUSED);
    expect(await harness.create({ config: { environment_id: "env-dev" } })).toMatchObject({
      state: "QUEUED",
    });
  });

  test("a forbidden follow-up, cancel or answer does not change the run", async () => {
    const run = await aBlockedRun();
    const { id } = await harness.create();
    await quiet();
    const other = await harness.run(id);
    await forbid({ match: { actions: ["follow_up", "cancel", "answer"], principals: [bob.id] } });
    const choice = { permissionId: "p1", optionId: "yes" };

    for (const forbidden of [
      () => harness.runs.followUps.send(other.id, bob, { message: "x", authorId: bob.id }),
      () => harness.runs.cancel(other.id, bob),
      () => harness.runs.answerPermission(run.id, bob, choice),
    ]) {
      await expect(forbidden()).rejects.toMatchObject(REFUSED);
    }

    expect(await harness.run(run.id)).toEqual(run);
    expect(await harness.run(other.id)).toEqual(other);
  });

  test("a forbidden answer cannot be given in words either", async () => {
    const run = await aBlockedRun();
    await forbid({ match: { actions: ["answer"], principals: [bob.id] } });
    const say = (message: string, by: Principal) =>
      harness.runs.followUps.send(run.id, by, { message, authorId: by.id });

    for (const words of ["yes", "no"]) {
      await expect(say(words, bob)).rejects.toMatchObject(REFUSED);
    }
    expect((await say("yes", ada)).run.state).toBe("INPROGRESS");
  });

  test("where only follow-ups are forbidden, words may answer a question but not ask for more", async () => {
    const run = await aBlockedRun();
    await forbid({ match: { actions: ["follow_up"] } });
    const say = (message: string) => harness.runs.followUps.send(run.id, ada, { message, authorId: ada.id });

    await expect(say("rather do something else")).rejects.toMatchObject(REFUSED);
    expect((await say("no")).run.state).toBe("INPROGRESS");
  });

  test("a forbidden run that the caller may not see is not found", async () => {
    const run = await harness.create({ creator: ada, teamOwned: false });
    await forbid({});

    await expect(harness.runs.cancel(run.id, bob)).rejects.toMatchObject({ code: "resource_not_found" });
  });
});

describe("a run that needs approval by a policy", () => {
  beforeEach(() =>
    harness.storage.policies.add(
      aPolicy({ effect: "require_approval", reason: "Needs a look.", match: { principals: [ada.id] } }),
    ),
  );

  test("a run that needs approval is not worked on, however long it waits", async () => {
    await harness.start();
    const run = await harness.create({ creator: ada });
    await harness.clock.advance(24 * 3_600_000);
    await harness.worker().work(run.id, new AbortController().signal);

    expect(await harness.run(run.id)).toMatchObject({
      state: "BLOCKED",
      approval: { reason: "Needs a look." },
      attempt: 0,
    });
    expect(harness.agents.starts).toEqual([]);
  });

  test("an approved run is worked on with the follow-ups that came meanwhile", async () => {
    await harness.start();
    const run = await harness.create({ creator: ada, prompt: "Fix it" });
    await harness.runs.followUps.send(run.id, bob, { message: "and this", authorId: bob.id });

    await approve(run.id, chief);
    await quiet();

    expect(harness.agents.prompts).toEqual(["Fix it\n\nand this"]);
    expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED" });
  });

  test("a run is approved by administrators or where a policy permits it, and not by its creator", async () => {
    const run = await harness.create({ creator: ada });
    await expect(approve(run.id, bob)).rejects.toMatchObject({
      code: "not_authorized",
    });
    await harness.storage.policies.add(
      aPolicy({ effect: "allow", match: { actions: ["approve"] }, priority: 1 }),
    );

    await expect(approve(run.id, ada)).rejects.toMatchObject({
      code: "not_authorized",
    });
    expect(await approve(run.id, bob)).toMatchObject({ state: "QUEUED" });
  });
});

test("a routing rule configures the run, and the provenance says so", async () => {
  const match = { sources: ["API"] } as const;
  await harness.storage.routingRules.add(
    aRoutingRule({ name: "all", environmentId: "env-dev", config: { model_id: "m" }, match }),
  );

  const run = await harness.create({ config: { base_prompt: "x" }, provenance: { from: "test" } });

  expect(run.config).toEqual({ base_prompt: "x", model_id: "m", environment_id: "env-dev" });
  expect(run.provenance).toEqual({
    from: "test",
    routing: { environment: "env-dev", rule: "all", reason: "The first rule that matches: sources." },
    environment: { name: "env-dev", repositories: [] },
    config_layers: {
      harness: "default",
      base_prompt: "request",
      model_id: "routing_rule",
      environment_id: "routing_rule",
    },
  });
});

test("a retried run keeps the provenance of its configuration", async () => {
  harness.skills.put("acme/tools", { "SKILL.md": "---\nname: tidy\n---\nTidy up." });
  const match = { sources: ["API"] } as const;
  const config = { skill_spec: "acme/tools:SKILL.md", model_id: "m" };
  await harness.storage.routingRules.add(aRoutingRule({ name: "all", config, match }));
  const run = await harness.create({
    prompt: "",
    config: { base_prompt: "x" },
    provenance: { from: "test" },
  });

  const again = await harness.runs.create(retryOf(run, { creator: bob, source: "API" }));

  expect(again.config).toEqual(run.config);
  expect(again.agent).toBe(run.agent);
  expect(again.provenance).toEqual({
    routing: { environment: null, rule: "all", reason: "The first rule that matches: sources." },
    config_layers: {
      harness: "default",
      base_prompt: "request",
      skill_spec: "routing_rule",
      model_id: "routing_rule",
      name: "skill",
    },
  });
});

test("a retried run keeps its configuration, even if the rules have changed", async () => {
  const run = await harness.create({ config: { base_prompt: "x" } });
  const match = { sources: ["API"] } as const;
  await harness.storage.routingRules.add(aRoutingRule({ environmentId: "env-dev", match }));

  const again = await harness.runs.create(retryOf(run, { creator: ada, source: "API" }));

  expect(again.config).toEqual({ base_prompt: "x" });
  expect(again.agent).toBe(run.agent);
});

async function approve(id: Run["id"], by: Principal): Promise<Run> {
  const inputsHash = (await harness.run(id)).approval?.inputsHash ?? "";
  return harness.runs.approve(id, by, { approve: true, inputsHash });
}

async function forbid(changes: Partial<Policy>): Promise<void> {
  await harness.storage.policies.add(aPolicy({ reason: "Not today.", ...changes }));
}

async function aBlockedRun(): Promise<Run> {
  harness.agents.scripts.push(async ({ observer }) => {
    await observer.permission(QUESTION);
    return END_TURN;
  });
  const { id } = await harness.create({ creator: ada });
  await harness.start();
  return harness.run(id);
}
