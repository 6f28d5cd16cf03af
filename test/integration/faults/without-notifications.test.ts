import { expect, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { withFaultHarness } from "./fault-harness.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 };

/**
 * In this database no process is ever notified, because the name pg_notify stands for a function that does nothing.
 */
const NO_NEWS = `
  CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
  DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`;

test("a run starts soon without any notification, because workers poll as well", { timeout: 60_000 }, () =>
  withFaultHarness(async (harness) => {
    await withConnection(harness.databaseUrl, SESSION, (client) => client.query(NO_NEWS));
    const api = await harness.start({ ERRAND_ROLE: "api" });
    await harness.start({ ERRAND_ROLE: "worker" });

    const runId = await harness.createRun(api, "say hello");

    const run = await api.api.waitForState(runId, "SUCCEEDED", 10_000);
    expect(run.state).toBe("SUCCEEDED");
    await harness.check();
  }),
);
