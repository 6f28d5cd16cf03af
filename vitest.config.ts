import { defineConfig } from "vitest/config";

/** Whole processes that are killed, cut off and started again: minutes of waiting. `npm run test:slow` runs them. */
const SLOW = [
  "test/integration/faults/**/*.test.ts",
  "test/integration/storage/embedded-postgres-*.test.ts",
  "test/integration/storage/schema-check.test.ts",
  "test/integration/git/**/*.test.ts",
  "test/integration/agents/acp-runner-*.test.ts",
  "test/e2e/redelivery.test.ts",
];

export default defineConfig({
  test: {
    // Much of a test is waiting for other processes; more than two make starts on two cores too slow.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "fast", include: ["test/**/*.test.ts"], exclude: SLOW } },
      { extends: true, test: { name: "slow", include: SLOW } },
    ],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
