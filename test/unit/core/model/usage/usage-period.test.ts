import { expect, test } from "vitest";
import { usagePeriod } from "../../../../../src/core/model/usage/usage.ts";

const NOW = new Date("2026-03-15T13:14:15Z");
const day = (text: string) => new Date(`${text}T00:00:00Z`);

test.each([
  [{}, "2026-02-14", "2026-03-16"],
  [{ from: "2026-03-01" }, "2026-03-01", "2026-03-16"],
  [{ from: "2026-03-01", to: "2026-03-01" }, "2026-03-01", "2026-03-02"],
  [{ to: "2026-03-01" }, "2026-01-31", "2026-03-02"],
  [{ from: "2024-02-29", to: "2025-02-28" }, "2024-02-29", "2025-03-01"],
])("the period %j lasts from %s until before %s", (input, from, until) => {
  expect(usagePeriod(input, NOW)).toEqual({ from: day(from), until: day(until) });
});

test.each([
  [{ from: "2026-02-29" }, "from"],
  [{ to: "2026-3-1" }, "to"],
  [{ from: "0000-01-01", to: "0000-01-02" }, "to"],
  [{ from: "2026-03-17" }, "from"],
  [{ from: "2025-03-14", to: "2026-03-15" }, "from"],
])("the period %j is refused because of its %s", (input, path) => {
  expect(() => usagePeriod(input, NOW)).toThrow(
    expect.objectContaining({ code: "invalid_request", message: expect.stringContaining(path) }),
  );
});
