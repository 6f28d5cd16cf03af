import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { spawnService } from "../../support/service.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const READY_MS = 60_000;

test("a service continues to serve when its log is no longer read", { timeout: 90_000 }, async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { child, output } = spawnService(join(await makeTemporaryFolder(), "data"), {
    DATABASE_URL: database.url,
    ERRAND_ROLE: "api",
    ERRAND_SECRET_KEY: "a secret key for a log that nobody reads",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const address = () => /"address":"(http[^"]+)"/.exec(output())?.[1];
  await waitFor(() => address() !== undefined, { what: "the service to be ready", timeoutMs: READY_MS });

  child.stdout?.destroy();
  child.stderr?.destroy();

  for (let requests = 1; requests <= 3; requests += 1) {
    const answer = await fetch(`${address()}/api/v1/agent/runs`);
    expect(answer.status).toBe(401);
  }
  expect(child.exitCode).toBeNull();
});
