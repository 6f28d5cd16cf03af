import { defineConfig } from "vitest/config";
import { FlakyReporter } from "./test/support/flaky-reporter.ts";

/** Tests of whole processes, sandboxes and packages, which take minutes. `npm run test:slow` runs them. */
const SLOW = [
  "cli/test/*.test.ts",
  "clients/python/tests/*.test.ts",
  "clients/typescript/test/package.test.ts",
  "packages/embedded-postgres/test/*.test.ts",
  "test/browser/**/*.test.ts",
  "test/contract/{pg-boss-queue,pubsub,queue}.test.ts",
  "test/e2e/{agents-at-work,asking,behind-nginx,conversation,documented-examples,generated-clients,github-action,github-authors,github-budget,github-checks,github-elsewhere,github-faults,github-gone,github-merged,github-refused,github-renamed,github-reports,hostile-events,installation,main-job,public-client,newer-database,redelivery}.test.ts",
  "test/e2e/github-{errand-file,morning,review,setup,signed}.test.ts",
  "test/e2e/{repository,run-files,skills,slack-events,slack-created,slack-first-steps,slack-workspaces,soak-day,stop-during-start,without-sandbox}.test.ts",
  "test/integration/agents/{acp-runner-*,real-*,rude-agents}.test.ts",
  "test/integration/api/{authorization-matrix,sealed-values-rotation}.test.ts",
  "test/integration/api/{secret-key-check,secret-key-rotation,server-modes,two-processes}.test.ts",
  "test/integration/faults/**/*.test.ts",
  "test/integration/gateway/git.test.ts",
  "test/integration/git/**/*.test.ts",
  "test/integration/old-node.test.ts",
  "test/integration/sandboxes/{bubblewrap-*,docker-*,local-sandbox}.test.ts",
  "test/integration/storage/{event-size,migrations,object-store,schema-check}.test.ts",
  "test/integration/workspace/{changes,docker-workspace,given-changes,hostile-repositories,large-checkpoints}.test.ts",
  "test/integration/workspace/{begin-again,empty-repository,large-files,guessed-repositories,preparation,repository-setup,reuse,signed-push,sparse-checkout,submodules}.test.ts",
  "test/unit/core/threads/outbox/pace.test.ts",
  "test/unit/layers.test.ts",
];

const UNIT = ["test/unit/**/*.test.ts", "web/test/**/*.test.ts"];
/** Starts the database of all test files. */
const GLOBAL_SETUP = ["test/support/global-setup.ts"];

/** Thousands of tests of many processes stand between a change and its merge. */
const RETRY = 1;

export default defineConfig({
  test: {
    // A large part of a test is waiting for other processes. More than two workers make starts too slow on two cores.
    maxWorkers: 2,
    projects: [
      // These tests do no I/O. Their files share processes, because most of the time went into a process for each file.
      {
        extends: true,
        // The pages use the sources of the client, as in their build.
        ssr: { resolve: { conditions: ["@errand/source", "module", "node", "development|production"] } },
        test: { name: "unit", include: UNIT, exclude: SLOW, isolate: false, restoreMocks: true },
      },
      {
        extends: true,
        test: {
          name: "fast",
          include: ["{test,cli/test,clients/*/test,packages/*/test}/**/*.test.ts"],
          exclude: [...SLOW, ...UNIT],
          globalSetup: GLOBAL_SETUP,
          retry: RETRY,
        },
      },
      { extends: true, test: { name: "slow", include: SLOW, globalSetup: GLOBAL_SETUP, retry: RETRY } },
    ],
    pool: "forks",
    reporters: ["default", new FlakyReporter()],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A busy machine takes longer than the default second.
    expect: { poll: { timeout: 10_000 } },
  },
});
