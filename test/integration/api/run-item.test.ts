import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunEdit } from "../../../src/core/runs/run-edit.ts";
import { aPolicy } from "../../support/rule-builders.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function itemOf(id: string): Promise<Answer["body"]> {
  return (await call(harness, `${RUNS}/${id}`)).body;
}

/** Ends the next turn of a run as an attempt does. */
function endTurn(edit: RunEdit, answer: string, stopReason = "end_turn"): void {
  edit.set({ turn: edit.run.turn + 1 });
  edit.record({ kind: "turn.ended", stopReason, answer });
}

describe("the result of a run", () => {
  test("a run has the answer of the last turn that its agent finished, also while the next turn is open", async () => {
    const id = await createRun(harness);
    const before = await itemOf(id);

    await harness.edit(id, (edit) => endTurn(edit, "First."));
    const first = await itemOf(id);
    await harness.edit(id, (edit) => endTurn(edit, "Half a sen", "cancelled"));
    await harness.edit(id, (edit) => edit.set({ turn: 3, turnOpen: true }));

    expect(before).not.toHaveProperty("result");
    expect(first.result).toEqual({ text: "First.", turn: 1 });
    expect((await itemOf(id)).result).toEqual({ text: "First.", turn: 1 });
  });

  test("a long result is cut between two characters at 64 KiB, and lists have no results", async () => {
    const name = randomUUID();
    const id = await createRun(harness, { config: { name } });
    await harness.edit(id, (edit) => endTurn(edit, `x${"😀".repeat(20_000)}`));

    const { result } = await itemOf(id);
    const { runs } = (await call(harness, `${RUNS}?name=${name}`)).body;

    expect(result).toEqual({ text: `x${"😀".repeat(16_383)}`, turn: 1, truncated: true });
    expect(runs).toHaveLength(1);
    expect(runs[0]).not.toHaveProperty("result");
  });
});

describe("what a run waits for", () => {
  test("a run that names an absent worker says so in the answer to its creation, alone and in lists", async () => {
    const name = randomUUID();
    const config = { name, worker_host: `box-${name}` };

    const created = await call(harness, RUNS, { body: { prompt: "x", config } });
    const item = await itemOf(created.body.run_id);
    const { runs } = (await call(harness, `${RUNS}?name=${name}`)).body;

    const waitingFor = {
      reason: "worker_host",
      message: `No worker with the name ${config.worker_host} is connected.`,
      since: item.created_at,
    };
    expect([created.body.waiting_for, item.waiting_for, runs[0].waiting_for]).toEqual([
      waitingFor,
      { ...waitingFor, position: 1 },
      waitingFor,
    ]);
  });

  test("a queued run has its position among the queued runs of its creator", async () => {
    const config = { worker_host: `box-${randomUUID()}` };
    const [first, second] = [await createRun(harness, { config }), await createRun(harness, { config })];
    const positions = async () => {
      const items = await Promise.all([first, second].map(itemOf));
      return items.map(({ waiting_for }) => [waiting_for?.position, waiting_for?.message.split(". ")[1]]);
    };

    expect(await positions()).toEqual([
      [1, undefined],
      [2, "Another queued run of the same creator comes first."],
    ]);
    await call(harness, `${RUNS}/${first}/cancel`, { method: "POST" });
    expect(await positions()).toEqual([
      [undefined, undefined],
      [1, undefined],
    ]);
  });

  test("a run that must be approved says so", async () => {
    const name = randomUUID();
    const match = { agents: ["codex"] };
    await harness.storage.policies.add(
      aPolicy({ name, effect: "require_approval", reason: "Costs.", match }),
    );
    const config = { harness: { type: "codex" } };

    const { body } = await call(harness, RUNS, { body: { prompt: "x", config } });

    const waitingFor = {
      reason: "approval",
      message: "The run must be approved. Costs.",
      since: expect.any(String),
    };
    const { waiting_for: read } = await itemOf(body.run_id);
    expect([body.waiting_for, read]).toEqual([waitingFor, { ...waitingFor, may_decide: true }]);
  });
});

test("problems that do not end a run are its warnings", async () => {
  const id = await createRun(harness);

  await harness.edit(id, (edit) => edit.record({ kind: "changes.not_kept", reason: "No pull request." }));

  expect((await itemOf(id)).warnings).toEqual(["No pull request."]);
});

describe("the agent of a run", () => {
  test("a run names its agent, and its configuration only a harness that the caller asked for", async () => {
    const harnesses = [undefined, { type: "demo" }, { type: "oz" }, { reasoning_level: "high" }];
    const items = [];
    for (const wanted of harnesses) {
      const config = wanted === undefined ? {} : { harness: wanted };
      items.push(await itemOf(await createRun(harness, { config })));
    }

    expect(items.map(({ agent }) => agent)).toEqual(harnesses.map(() => ({ name: "demo" })));
    expect(items.map(({ agent_config }) => agent_config.harness)).toEqual(harnesses);
  });

  test("a run that continues or repeats another keeps its agent without naming it as a request", async () => {
    const first = await itemOf(await createRun(harness));
    const next = await itemOf(await createRun(harness, { conversation_id: first.conversation_id }));
    const again = (await call(harness, `${RUNS}/${first.run_id}/retry`, { method: "POST" })).body;

    for (const run of [next, await itemOf(again.run_id)]) {
      expect(run.agent).toEqual({ name: "demo" });
      expect(run.agent_config).not.toHaveProperty("harness");
    }
    expect(next.provenance.config_layers.harness).toBe("conversation");
  });

  test("the version and the model of an agent are shown once they are known", async () => {
    const id = await createRun(harness, { config: { model_id: "m" } });

    await harness.edit(id, (edit) => edit.set({ agentVersion: "1.2.3" }));

    expect((await itemOf(id)).agent).toEqual({ name: "demo", version: "1.2.3", model_id: "m" });
  });
});
