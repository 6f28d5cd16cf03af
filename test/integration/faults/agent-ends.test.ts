import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { FaultHarness, type Worker } from "./fault-harness.ts";

let database: TestDatabase;
let harness: FaultHarness;
let worker: Worker;

beforeAll(async () => {
  database = await createTestDatabase();
  harness = await FaultHarness.open({ databaseUrl: database.url });
  worker = await harness.start();
});

afterAll(async () => {
  await harness?.close();
  await database?.drop();
});

/**
 * The ends of a run in docs/api.md. How a driver handles an exit without an error is tested in rude-agents.test.ts.
 */
describe.concurrent("the state in which a run ends", () => {
  test.each([
    ["exits with 1", "say a word\ncrash", "ERROR", "internal_error", /exit code 1.*told to crash/],
    ["is killed by SIGKILL, without a word", "die", "ERROR", "internal_error", /SIGKILL/],
    ["is killed from the side", "shell kill -TERM $PPID", "ERROR", "internal_error", /SIGTERM/],
    ["refuses", "refuse", "FAILED", "invalid_request", /refused/],
    ["is refused by its model", "fail 401", "FAILED", "external_authentication_required", /./],
    ["gets no answer of its model", "fail 429", "ERROR", "resource_unavailable", /./],
  ])("an agent that %s", async (_name, prompt, state, code, message) => {
    const runId = await harness.createRun(worker, prompt);

    const run = await worker.api.waitForState(runId, ["SUCCEEDED", "FAILED", "ERROR"]);

    expect(run).toMatchObject({ state, status_message: { error_code: code } });
    expect(run.status_message?.message).toMatch(message);
    await harness.check();
  });

  test("the run of an agent that died continues with its next follow-up", async () => {
    const runId = await harness.createRun(worker, "write kept.txt words\ncrash");
    await worker.api.waitForState(runId, "ERROR");

    await worker.api.followUp(runId, "read kept.txt");

    await worker.api.waitForState(runId, "SUCCEEDED");
    expect(JSON.stringify(await worker.api.events(runId))).toContain("kept.txt has 6 characters");
    await harness.check();
  });
});
