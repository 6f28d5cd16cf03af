import { describe, expect, test } from "vitest";
import {
  isEnded,
  isWorkedOn,
  mayMove,
  needsLease,
  RUN_STATES,
  type RunState,
  requireTransition,
} from "../../../../../src/core/model/runs/states.ts";

const MOVING = ["PENDING", "CLAIMED", "INPROGRESS"] as const;
const ENDED = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const;

/** The rows of the transition table in docs/api.md: from, to. */
const TABLE: readonly (readonly [readonly RunState[], readonly RunState[]])[] = [
  [["QUEUED"], ["BLOCKED"]],
  [["BLOCKED"], ["QUEUED", "CANCELLED"]],
  [["QUEUED"], ["PENDING"]],
  [["PENDING"], ["CLAIMED"]],
  [["CLAIMED"], ["INPROGRESS"]],
  [["INPROGRESS"], ["BLOCKED"]],
  [["BLOCKED"], ["INPROGRESS", "QUEUED"]],
  [MOVING, ["QUEUED"]],
  [
    [...MOVING, "BLOCKED"],
    ["SUCCEEDED", "FAILED", "ERROR"],
  ],
  [["QUEUED", ...MOVING, "BLOCKED"], ["CANCELLED"]],
  [ENDED, ["QUEUED"]],
];
const PAIRS = RUN_STATES.flatMap((from) => RUN_STATES.map((to) => [from, to] as const));

describe("the states of a run", () => {
  test.each(PAIRS)("the transition from %s to %s is allowed or refused as documented", (from, to) => {
    const isInTable = TABLE.some(([froms, tos]) => froms.includes(from) && tos.includes(to));

    expect(mayMove(from, to)).toBe(isInTable);
    if (isInTable) {
      expect(() => requireTransition(from, to)).not.toThrow();
    } else {
      expect(() => requireTransition(from, to)).toThrow(`A run that is ${from} cannot become ${to}.`);
    }
  });

  test.each(RUN_STATES)("the state %s is ended, needs a lease or is worked on as documented", (state) => {
    expect(isEnded(state)).toBe(ENDED.some((ended) => ended === state));
    expect(needsLease(state)).toBe(MOVING.some((moving) => moving === state));
    expect(isWorkedOn(state)).toBe(needsLease(state) || state === "BLOCKED");
  });
});
