import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const CANARY = "canary-of-a-run's-secret-5d1e";
const IN_TWO = `shell printf '%s' "$DEPLOY_KEY" | head -c 12; sleep 0.4; printf '%s' "$DEPLOY_KEY" | tail -c +13`;

test(
  "a run that asks for a worker waits for it, gets its secrets there, and exposes them nowhere",
  { timeout: 90_000 },
  () =>
    withFaultHarness(async (harness) => {
      const plain = await harness.start({ ERRAND_LOG_LEVEL: "debug" });
      await plain.api.call("PUT", "/agent/secrets/DEPLOY_KEY", { value: CANARY });
      const config = { worker_host: "build-box" };
      const created = await plain.api.call("POST", "/agent/runs", { prompt: IN_TWO, config });
      const { run_id: asking } = created.body as { run_id: string };
      expect(created.body).toMatchObject({ at_capacity: true });
      const unnamed = await harness.createRun(plain, "say hello");
      await plain.api.waitForState(unnamed, "SUCCEEDED");
      expect((await plain.api.getRun(asking)).state).toBe("QUEUED");

      const named = await harness.start({
        ERRAND_ROLE: "worker",
        ERRAND_WORKER_HOST: "build-box",
        ERRAND_LOG_LEVEL: "debug",
      });
      await plain.api.waitForState(asking, "SUCCEEDED");

      expect(await hosts(plain)).toMatchObject([{ worker_host: "build-box", connection_count: 1 }]);
      const events = JSON.stringify(await plain.api.events(asking));
      expect(events).toContain("[redacted]");
      expect(events).not.toContain(CANARY);
      expect(events).toContain(
        String((await harness.rows("SELECT id FROM workers WHERE worker_host IS NOT NULL"))[0]?.id),
      );
      expect(plain.output() + named.output()).not.toContain(CANARY);
      await expectHealthy(plain);
      await named.end("SIGTERM");
      await waitFor(async () => (await hosts(plain)).length === 0, { what: "the worker to be gone" });
      await harness.check();
    }),
);

async function hosts({ api }: Worker): Promise<readonly unknown[]> {
  const { body } = await api.call("GET", "/agent/connected-self-hosted-workers");
  return (body as { workers: unknown[] }).workers;
}

async function expectHealthy({ api }: Worker): Promise<void> {
  const { body } = await api.call("GET", "/agent/doctor");
  const { checks } = body as { checks: { name: string; status: string }[] };
  expect(checks.filter(({ status }) => status === "fail")).toEqual([]);
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "database",
      "migrations",
      "clock",
      "webhooks",
      "queue",
      "workers",
      "sandbox",
      "agents",
      "adapters",
      "public_url",
      "pages",
      "secret_key",
      "disk",
    ]),
  );
  const usage = (await api.call("GET", "/agent/usage")).body as {
    usage: { runs: number; total_tokens: number }[];
  };
  expect(usage.usage[0]).toMatchObject({ runs: 2, succeeded: 2 });
  expect(usage.usage[0]?.total_tokens).toBeGreaterThan(0);
}
