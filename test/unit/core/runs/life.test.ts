import fc from "fast-check";
import { test } from "vitest";
import { LifeHarness } from "./life-harness.ts";

/** Everything that can happen to a run, in any order; what makes no sense at a moment does nothing. */
const STEPS = [
  "followUp",
  "interrupt",
  "answer",
  "cancel",
  "approve",
  "refuse",
  "takeJob",
  "ready",
  "startTurn",
  "ask",
  "say",
  "steer",
  "endTurn",
  "refuseTurn",
  "fail",
  "handBack",
  "die",
  "lapse",
  "recover",
] as const;
/** An agent that asks, does not wait for the answer, and is put down before it takes what waits. */
const ENDS_UNANSWERED = ["takeJob", "ready", "startTurn", "followUp", "ask", "endTurn", "handBack"] as const;
/** Taken more often, or few would come to the steps that stand behind them. */
const FORWARD = ["takeJob", "ready", "startTurn"] as const;
const anyStep = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...FORWARD) },
  { weight: 3, arbitrary: fc.constantFrom(...STEPS) },
);

test("whatever happens to a run, in whatever order, its invariants hold", async () => {
  const steps = fc.array(anyStep, { minLength: 20, maxLength: 120, size: "max" });
  const property = fc.asyncProperty(steps, fc.boolean(), async (taken, needsApproval) => {
    const harness = await LifeHarness.open(needsApproval);
    for (const step of taken) {
      await harness[step]();
      await harness.check();
    }
  });

  await fc.assert(property, { numRuns: 400 });
});

test("a run on which workers go on working ends, and all follow-ups were taken", async () => {
  const steps = fc.array(anyStep, { maxLength: 80, size: "max" });
  const property = fc.asyncProperty(steps, fc.boolean(), async (taken, needsApproval) => {
    const harness = await LifeHarness.open(needsApproval);
    for (const step of taken) await harness[step]();

    await harness.finish();

    await harness.checkEnd();
  });

  await fc.assert(property, { numRuns: 200, examples: [[[...ENDS_UNANSWERED], false]] });
});
