import { afterEach, expect, test, vi } from "vitest";
import type { AgentUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import { TurnRunner } from "../../../../../src/core/work/turns/turn-runner.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const early: AgentUpdate[] = ["one", "two"].map((text) => ({ kind: "agent.message", text }));

test("the turn runner gets the updates that an agent reports before its start resolves, in order", async () => {
  const onUpdate = vi.spyOn(TurnRunner.prototype, "onUpdate");
  const harness = new CoreHarness();
  harness.agents.earlyUpdates.push(...early);
  await harness.start();

  const { id } = await harness.create();
  await quiet();

  const updates = onUpdate.mock.calls.map(([update]) => update);
  expect(updates.map((update) => "text" in update && update.text)).toEqual(["one", "two", "Done."]);
  expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
});

test("the turn runner gets the latest of very many early updates", async () => {
  const onUpdate = vi.spyOn(TurnRunner.prototype, "onUpdate");
  const harness = new CoreHarness();
  harness.agents.earlyUpdates.push(
    ...Array.from({ length: 150 }, (_, index): AgentUpdate => ({ kind: "agent.title", title: `${index}` })),
  );
  await harness.start();

  await harness.create();
  await quiet();

  const titles = onUpdate.mock.calls.flatMap(([update]) =>
    update.kind === "agent.title" ? [update.title] : [],
  );
  expect(titles).toEqual(Array.from({ length: 100 }, (_, index) => `${index + 50}`));
});
