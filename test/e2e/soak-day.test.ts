import { expect, test } from "vitest";
import { hasGrown, soakDay } from "../../bench/soak/day.ts";

const TEST_LIMIT_MS = 1_200_000;

test("forty runs on two workers leave disk, database and memory as they were", {
  timeout: TEST_LIMIT_MS,
}, async () => {
  const figures = await soakDay({ runs: 40, seconds: 40, log: (line) => process.stdout.write(`${line}\n`) });

  expect(figures.filter(hasGrown)).toEqual([]);
});
