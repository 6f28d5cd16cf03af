import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { call, createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function execute(statement: string, ...values: unknown[]): Promise<void> {
  const database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
  await database.query((client) => client.$executeRawUnsafe(statement, ...values));
  await database.close();
}

test.each([
  ["agent_process_failed", "internal_error"],
  ["infrastructure_timeout", "resource_unavailable"],
])(
  "a run and an event that were stored with the code %s are shown with the code %s",
  async (former, code) => {
    const id = await createRun(harness);
    const words = { message: "It ended.", retryable: false };
    const status = JSON.stringify({ ...words, errorCode: former });
    await execute(
      "UPDATE runs SET state = 'ERROR', status_message = $2::jsonb WHERE id = $1::uuid",
      id,
      status,
    );
    const body = JSON.stringify({
      kind: "run.state",
      from: "QUEUED",
      to: "ERROR",
      status: JSON.parse(status),
    });
    await execute("UPDATE run_events SET body = $2::jsonb WHERE run_id = $1::uuid", id, body);

    const run = await call(harness, `/api/v1/agent/runs/${id}`);
    const { body: page } = await call(harness, `/api/v1/agent/runs/${id}/events`, {
      headers: { accept: "application/json" },
    });

    expect(run.body.status_message).toEqual({ ...words, error_code: code, reason: former });
    expect(JSON.stringify(page.events)).toContain(`"${code}"`);
    expect(page.events[0].status).toMatchObject({ ...words, reason: former });
  },
);
