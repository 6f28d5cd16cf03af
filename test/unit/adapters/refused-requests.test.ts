import { expect, test } from "vitest";
import { RefusedRequests } from "../../../src/adapters/webhook-route.ts";

test("of a flood of refused requests the first is logged, and the others are counted in one line a minute", () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  let elapsedMs = 0;
  const refused = new RefusedRequests(
    { info: write, warn: write, error: write },
    "rejected",
    () => elapsedMs,
  );

  for (let index = 0; index < 1_000; index += 1) {
    refused.add(`r${index}`);
  }
  const within = [...lines];
  elapsedMs = 60_000;
  refused.add("last", "too_long");

  expect(within).toEqual([["rejected", { requestId: "r0", count: 1 }]]);
  expect(lines.slice(1)).toEqual([["rejected", { requestId: "last", count: 1_000, code: "too_long" }]]);
});
