import { describe, expect, test, vi } from "vitest";
import { pauseAfter, RETRY_PAUSES_MS } from "../../../../../src/core/team/webhooks/complete-try.ts";

const HOUR_MS = 3_600_000;

describe("the retry schedule", () => {
  test("the retry schedule spreads ten attempts over three days", () => {
    const sum = RETRY_PAUSES_MS.reduce((total, pause) => total + pause, 0);

    expect(RETRY_PAUSES_MS.map((ms) => ms / 1_000)).toEqual([
      5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
    expect(sum / HOUR_MS).toBeCloseTo(75.58, 1);
    expect(pauseAfter(10)).toBeUndefined();
  });

  test.each([0, 0.5, 0.999])("the retry schedule adds a random tenth at most to each pause: %d", (random) => {
    vi.spyOn(Math, "random").mockReturnValue(random);

    const pauses = RETRY_PAUSES_MS.map((_, index) => pauseAfter(index + 1));

    expect(pauses).toEqual(RETRY_PAUSES_MS.map((ms) => Math.round(ms * (1 + random / 10))));
    vi.restoreAllMocks();
  });

  test("the retry schedule waits longer on request, up to a limit", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);

    expect(pauseAfter(1, 30_000)).toBe(30_000);
    expect(pauseAfter(2, 30_000)).toBe(300_000);
    expect(pauseAfter(1, 1_000 * HOUR_MS)).toBe(24 * HOUR_MS);
    expect(pauseAfter(10, 30_000)).toBeUndefined();
    vi.restoreAllMocks();
  });
});
