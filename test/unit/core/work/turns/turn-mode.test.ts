import { expect, test } from "vitest";
import type { FollowUp } from "../../../../../src/core/model/runs/follow-up.ts";
import type { RunMode } from "../../../../../src/core/model/runs/run.ts";
import { modeOf, promptModeOf } from "../../../../../src/core/work/turns/turn-text.ts";
import { aFollowUp, aRun } from "../../../../support/run-builders.ts";

const run = aRun({ mode: "plan" });

function followUp(mode?: RunMode): FollowUp {
  return { ...aFollowUp(run, mode === undefined ? {} : { mode }), seq: 1 };
}

test.each<[string, number, RunMode | undefined, FollowUp[], RunMode]>([
  ["the first turn goes by the run", 1, "plan", [followUp()], "plan"],
  ["a later one does not", 2, "plan", [followUp()], "normal"],
  ["the last follow-up that says something wins", 2, undefined, [followUp("plan"), followUp()], "plan"],
  ["also over the run", 1, "plan", [followUp("orchestrate"), followUp("normal")], "normal"],
  ["nothing said", 1, undefined, [], "normal"],
])("the mode of a turn: %s", (_what, turn, mode, followUps, expected) => {
  const { mode: _, ...plain } = run;

  expect(modeOf({ ...plain, turn, ...(mode && { mode }) }, followUps)).toBe(expected);
});

test("a mode comes with instructions for an agent without that mode", () => {
  expect(promptModeOf("plan")).toEqual({
    name: "plan",
    instruction: expect.stringMatching(/plan.*change nothing/),
  });
  expect(promptModeOf("normal").instruction).toBe("");
});
