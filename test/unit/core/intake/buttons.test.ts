import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { untilCancelled } from "../../../support/scripted-agents.ts";
import { IntakeBench } from "./intake-bench.ts";

let bench: IntakeBench;
beforeEach(async () => {
  bench = new IntakeBench();
  await bench.start();
});

describe("a pressed button", () => {
  test("stops its run", async () => {
    bench.agents.scripts.push(untilCancelled);
    await bench.receive({});
    const { id: runId } = await bench.currentRun();

    expect(await bench.receive({ press: { kind: "cancel", runId } })).toBe("cancelled");

    expect(await bench.currentRun()).toMatchObject({ state: "CANCELLED" });
  });

  test("answers the question of its run, once", async () => {
    const run = await bench.aBlockedRun();
    const press = { kind: "answer", runId: run.id, permissionId: "p", optionId: "yes" } as const;

    expect(await bench.receive({ press })).toBe("answered");
    expect(await bench.receive({ press })).toBe("replied");

    expect(await bench.currentRun()).toMatchObject({ state: "SUCCEEDED", answer: "I got yes" });
    expect(bench.repliesShown()).toEqual(["The run does not wait for this answer."]);
  });

  test("stops a run that works on though its thread has begun another one", async () => {
    bench.agents.scripts.push(untilCancelled);
    await bench.receive({});
    const { id: runId } = await bench.currentRun();
    await bench.receive({ text: "new fix the lexer" });

    expect(await bench.receive({ press: { kind: "cancel", runId } })).toBe("cancelled");

    expect(await bench.run(runId)).toMatchObject({ state: "CANCELLED" });
    expect(await bench.currentRun()).toMatchObject({ prompt: "fix the lexer", state: "SUCCEEDED" });
    expect(bench.cardsShown()).toMatchObject([
      { runId, state: "CANCELLED" },
      { title: "fix the lexer", state: "SUCCEEDED" },
    ]);
  });

  test("of a run of another thread does nothing but say so", async () => {
    await bench.receive({});

    const press = { kind: "cancel", runId: randomUUID() as RunId } as const;

    expect(await bench.receive({ press })).toBe("replied");
    expect(bench.repliesShown()).toEqual(["That run is not one of this thread."]);
  });
});
