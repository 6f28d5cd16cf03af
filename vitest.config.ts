import { defineConfig } from "vitest/config";

/** Tests that start, kill and disconnect whole processes and take minutes. `npm run test:slow` runs them. */
const SLOW = [
  "test/contract/{pg-boss-queue,queue}.test.ts",
  "test/integration/api/{server-modes,two-processes}.test.ts",
  "test/integration/sandboxes/bubblewrap-sandbox.test.ts",
  "test/integration/workspace/preparation.test.ts",
  "test/integration/agents/rude-agents.test.ts",
  "test/integration/storage/migrations.test.ts",
  "test/e2e/{conversation,run-files}.test.ts",
  "test/integration/faults/**/*.test.ts",
  "test/integration/embedded-postgres/embedded-postgres-*.test.ts",
  "test/integration/storage/schema-check.test.ts",
  "test/integration/git/**/*.test.ts",
  "test/integration/gateway/git.test.ts",
  "test/integration/agents/acp-runner-*.test.ts",
  "test/integration/agents/real-*.test.ts",
  "test/integration/sandboxes/docker-*.test.ts",
  "test/integration/sandboxes/bubblewrap-hostile.test.ts",
  "test/integration/workspace/{changes,docker-workspace,hostile-repositories,large-checkpoints,repository-setup,reuse}.test.ts",
  "test/e2e/agents-at-work.test.ts",
  "test/e2e/generated-clients.test.ts",
  "test/e2e/redelivery.test.ts",
];

export default defineConfig({
  test: {
    // A large part of a test is waiting for other processes. More than two workers make starts too slow on two cores.
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
