import fc from "fast-check";
import { test } from "vitest";
import { type Approves, LifeHarness } from "./life-harness.ts";

/**
 * Everything that can happen to a run, in any order. An operation that is impossible in the current state has no
 * effect.
 */
const STEPS = [
  "followUp",
  "interrupt",
  "memberFollowUp",
  "memberInterrupt",
  "memberSteer",
  "edit",
  "withdraw",
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
/** The agent asks, does not wait for the answer, and ends before it takes the waiting follow-ups. */
const ENDS_UNANSWERED = ["takeJob", "ready", "startTurn", "followUp", "ask", "endTurn", "handBack"] as const;
/** These steps are taken more often, because otherwise few sequences would reach the steps after them. */
const FORWARD = ["takeJob", "ready", "startTurn"] as const;
const anyStep = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...FORWARD) },
  { weight: 3, arbitrary: fc.constantFrom(...STEPS) },
);

const APPROVES = fc.constantFrom<Approves>("nothing", "runs", "follow-ups");

test("the invariants of a run hold after any sequence of operations", async () => {
  const steps = fc.array(anyStep, { minLength: 20, maxLength: 120, size: "max" });
  const property = fc.asyncProperty(steps, APPROVES, async (taken, approves) => {
    const harness = await LifeHarness.open(approves);
    for (const step of taken) {
      await harness[step]();
      await harness.check();
    }
  });

  await fc.assert(property, { numRuns: 300 });
});

test("a run whose workers keep working ends after taking all follow-ups", async () => {
  const steps = fc.array(anyStep, { maxLength: 80, size: "max" });
  const property = fc.asyncProperty(steps, APPROVES, async (taken, approves) => {
    const harness = await LifeHarness.open(approves);
    for (const step of taken) {
      await harness[step]();
    }

    await harness.finish();

    await harness.checkEnd();
  });

  await fc.assert(property, { numRuns: 200, examples: [[[...ENDS_UNANSWERED], "nothing"]] });
});
