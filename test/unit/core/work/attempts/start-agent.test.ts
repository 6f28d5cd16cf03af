import { afterEach, expect, test, vi } from "vitest";
import type { AgentUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import { StartTimes } from "../../../../../src/core/work/log/start-times.ts";
import { TurnRunner } from "../../../../../src/core/work/turns/turn-runner.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

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

test("the phases of a start are counted and in the log, and the first text is counted once", async () => {
  const harness = new CoreHarness();
  const startTimes = new StartTimes();
  harness.agents.beforeStart.push(() => harness.clock.advance(100));
  harness.agents.scripts.push(async ({ observer, say }) => {
    observer.update({ kind: "agent.thought", text: "Well." });
    await harness.clock.advance(2_000);
    say("One.");
    say("Two.");
    return END_TURN;
  });
  const { claims } = harness.storage;
  const reserveNext = claims.reserveNext.bind(claims);
  vi.spyOn(claims, "reserveNext").mockImplementation(async (claim) => {
    const next = await reserveNext(claim);
    await (typeof next === "string" ? undefined : harness.clock.advance(30));
    return next;
  });
  await harness.start(harness.worker({ startTimes }));

  const { id } = await harness.create();
  await vi.waitFor(async () => expect((await harness.run(id)).state).toBe("SUCCEEDED"));

  const phases = { processMs: 1, initializeMs: 2, sessionMs: 3 };
  const started = (await harness.events(id)).filter(({ body }) => body.kind === "agent.started");
  expect(started.map(({ body }) => body)).toMatchObject([{ phases }]);
  expect(startTimes.durations).toMatchObject({
    claim: { count: 1, sumSeconds: 0.03 },
    workspace: { count: 1, sumSeconds: 0 },
    process: { count: 1, sumSeconds: 0.001 },
    initialize: { count: 1, sumSeconds: 0.002 },
    session: { count: 1, sumSeconds: 0.003 },
    first_word: { count: 1, sumSeconds: 2 },
  });
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
