import { expect, test } from "vitest";
import { ForgedRequests } from "../../../src/adapters/forged-requests.ts";

test("of a flood of forged requests the first is logged, and the others are counted in one line a minute", () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  let elapsedMs = 0;
  const forged = new ForgedRequests({ info: write, warn: write, error: write }, "rejected", () => elapsedMs);

  for (let index = 0; index < 1_000; index += 1) {
    forged.add(`r${index}`);
  }
  const within = [...lines];
  elapsedMs = 60_000;
  forged.add("last");

  expect(within).toEqual([["rejected", { requestId: "r0", count: 1 }]]);
  expect(lines.slice(1)).toEqual([["rejected", { requestId: "last", count: 1_000 }]]);
});
