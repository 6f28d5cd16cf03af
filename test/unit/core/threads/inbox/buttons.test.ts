import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

describe("a pressed button", () => {
  test("the stop button stops its run", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({});
    const { id: runId } = await harness.currentRun();

    expect(await harness.receive({ buttonAction: { kind: "cancel", runId } })).toBe("cancelled");

    expect(await harness.currentRun()).toMatchObject({ state: "CANCELLED" });
  });

  test("an answer button answers the question of its run once", async () => {
    const run = await harness.aBlockedRun();
    const buttonAction = { kind: "answer", runId: run.id, permissionId: "p", optionId: "yes" } as const;

    expect(await harness.receive({ buttonAction })).toBe("answered");
    expect(await harness.receive({ buttonAction })).toBe("replied");

    expect(await harness.currentRun()).toMatchObject({ state: "SUCCEEDED", answer: "I got yes" });
    expect(harness.repliesShown()).toEqual(["The run does not wait for this answer."]);
  });

  test("the stop button stops its run even if the thread has started another run", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({});
    const { id: runId } = await harness.currentRun();
    await harness.receive({ text: "new fix the lexer" });

    expect(await harness.receive({ buttonAction: { kind: "cancel", runId } })).toBe("cancelled");

    expect(await harness.run(runId)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.currentRun()).toMatchObject({ prompt: "fix the lexer", state: "SUCCEEDED" });
    expect(harness.cardsShown()).toMatchObject([
      { runId, state: "CANCELLED" },
      { title: "fix the lexer", state: "SUCCEEDED" },
    ]);
  });

  test("a button of a run in another thread has no effect except a reply", async () => {
    await harness.receive({});

    const buttonAction = { kind: "cancel", runId: randomUUID() as RunId } as const;

    expect(await harness.receive({ buttonAction })).toBe("replied");
    expect(harness.repliesShown()).toEqual(["That run is not one of this thread."]);
  });
});
