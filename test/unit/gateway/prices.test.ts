import { describe, expect, test } from "vitest";
import { costUsd, isPriced } from "../../../src/gateway/models/prices.ts";

const PRICES = {
  "gpt-5": { input: 1, output: 10 },
  "gpt-*": { input: 2, output: 20 },
  "gpt-5-mini*": { input: 0.25, cached_input: 0.025, output: 2 },
};
const TOKENS = { input: 1_000_000, cachedInput: 400_000, output: 100_000, total: 1_100_000 };

describe("the price of a model", () => {
  test.each([
    ["gpt-5", 1 + 1],
    ["gpt-5-2026-01-01", 2 + 2],
    ["gpt-5-mini-2026-01-01", 0.6 * 0.25 + 0.4 * 0.025 + 0.2],
    ["claude-opus", 0],
    ["", 0],
    ["constructor", 0],
  ])("the price of %j is found by its name, otherwise by the longest matching prefix", (model, usd) => {
    expect(costUsd(PRICES, model, TOKENS)).toBeCloseTo(usd);
    expect(isPriced(PRICES, model)).toBe(usd > 0);
  });
});
