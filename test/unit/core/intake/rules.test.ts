import { beforeEach, describe, expect, test } from "vitest";
import type { Policy } from "../../../../src/core/policies/policy.ts";
import { anEnvironment } from "../../../support/environment-builders.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { aPolicy, aRoutingRule } from "../../../support/rule-builders.ts";
import { untilCancelled } from "../../../support/scripted-agents.ts";
import { IntakeBench, KEY } from "./intake-bench.ts";

let bench: IntakeBench;
beforeEach(async () => {
  bench = new IntakeBench();
  await bench.start();
});

describe("a message that a policy forbids", () => {
  test("starts no run, and its author is told why, once", async () => {
    await forbid({ match: { integrations: ["memory"], installations: ["here"], places: ["acme/*"] } });
    const message = { meaning: "m1", place: "acme/web" };

    expect(await bench.receive(message)).toBe("refused");
    expect(await bench.receive(message)).toBe("duplicate");

    expect(bench.repliesShown()).toEqual(["Ask in #requests."]);
    expect(bench.agents.starts).toEqual([]);
  });

  test("elsewhere is none of its business", async () => {
    await forbid({ match: { places: ["acme/*"] } });

    expect(await bench.receive({ place: "other/web" })).toBe("run_created");
  });

  test("follows up nothing, and is told why though it named nobody", async () => {
    await bench.receive({});
    await forbid({ match: { actions: ["follow_up"] } });

    expect(await bench.receive({ text: "and this", addressed: "reply" })).toBe("refused");

    expect(bench.repliesShown()).toEqual(["Ask in #requests."]);
    expect(bench.agents.prompts).toEqual(["Fix it"]);
  });

  test("stops nothing, by word or by button", async () => {
    bench.agents.scripts.push(untilCancelled);
    await bench.receive({});
    const { id: runId } = await bench.currentRun();
    await forbid({ match: { actions: ["cancel"] } });

    expect(await bench.receive({ text: "stop" })).toBe("refused");
    expect(await bench.receive({ press: { kind: "cancel", runId } })).toBe("refused");

    expect(await bench.currentRun()).toMatchObject({ state: "INPROGRESS" });
    expect(bench.repliesShown()).toHaveLength(2);
  });

  test("answers nothing, by word or by button", async () => {
    const { id: runId } = await bench.aBlockedRun();
    await forbid({ match: { actions: ["answer"] } });
    const press = { kind: "answer", runId, permissionId: "p", optionId: "yes" } as const;

    expect(await bench.receive({ press })).toBe("refused");
    expect(await bench.receive({ text: "yes" })).toBe("refused");

    expect(await bench.currentRun()).toMatchObject({ state: "BLOCKED", permission: { permissionId: "p" } });
  });
});

test("a request that needs approval says in the thread what it waits for, and is followed up meanwhile", async () => {
  await forbid({ effect: "require_approval", reason: "It costs." });

  expect(await bench.receive({})).toBe("run_created");
  expect(await bench.receive({ text: "yes", addressed: "reply" })).toBe("follow_up");

  expect(await bench.currentRun()).toMatchObject({ state: "BLOCKED", approval: { reason: "It costs." } });
  expect(bench.cardsShown()).toMatchObject([{ state: "BLOCKED", message: "Waits for approval. It costs." }]);
  expect(bench.cardsShown()[0]).not.toHaveProperty("question");
});

test("a refused request is told in its thread", async () => {
  await forbid({ effect: "require_approval", reason: "It costs." });
  await bench.receive({});
  const chief = { ...(await bench.person("Chief")), administrator: true };

  await bench.runs.approve((await bench.currentRun()).id, chief, { approve: false, comment: "too dear" });
  await quiet();

  expect(bench.cardsShown()).toMatchObject([{ state: "CANCELLED" }]);
  expect(bench.adapter.thread(KEY).map(({ notice }) => notice)).toContainEqual(
    expect.objectContaining({ purpose: "outcome", text: "Refused by Chief: too dear" }),
  );
});

test("somebody who is disabled may do nothing, and is told", async () => {
  await bench.storage.people.put({ ...(await bench.person("Ada")), disabled: true });

  expect(await bench.receive({})).toBe("refused");

  expect(bench.repliesShown()).toEqual([expect.stringContaining("switched your account here off")]);
});

test("a request from outside is routed by where it came from and what it says", async () => {
  await bench.storage.environments.add(anEnvironment("env-1"));
  const match = { integrations: ["memory"], places: ["acme/*"], text: ["login"] };
  await bench.storage.routingRules.add(
    aRoutingRule({ environmentId: "env-1", config: { model_id: "m" }, match }),
  );

  await bench.receive({ text: "Fix the Login page", place: "acme/web" });

  expect(await bench.currentRun()).toMatchObject({
    config: { environment_id: "env-1", model_id: "m" },
    provenance: { from: "test", permission: "member", routing: { environment: "env-1" } },
  });
});

function forbid(changes: Partial<Policy>): Promise<void> {
  return bench.storage.policies.add(aPolicy({ reason: "Ask in #requests.", ...changes }));
}
