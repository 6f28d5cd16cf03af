import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { createSecretBox } from "../../../src/secrets/secret-box.ts";
import { deriveKey } from "../../../src/secrets/secret-files.ts";
import { PrismaAdapterSettings } from "../../../src/storage/adapter-settings.ts";
import { Database } from "../../../src/storage/database.ts";
import { PostgresPubSub } from "../../../src/storage/postgres-pubsub.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

/** Less than the time after which processes look at the settings without a notification. */
const WAIT_MS = 50_000;
const WITHOUT_SLACK = { SLACK_SIGNING_SECRET: "", SLACK_BOT_TOKEN: "" };

/** Stores the settings of Slack as a process of the service does it, whose connections are closed by the result. */
async function storeSlack(harness: FaultHarness): Promise<() => Promise<void>> {
  const {
    ERRAND_SECRET_KEY: key = "",
    SLACK_BOT_TOKEN = "",
    SLACK_SIGNING_SECRET = "",
  } = harness.environment();
  const url = harness.databaseUrl;
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  const pubsub = new PostgresPubSub({ url, log: SILENT_LOG });
  await pubsub.start();
  const secrets = createSecretBox([deriveKey(key, "sealing")]);
  const settings = new PrismaAdapterSettings({ database, pubsub, clock: systemClock, secrets });
  const principalId = randomUUID() as PrincipalId;
  const audit = { actor: { uid: principalId, type: "user" } } as const;
  await settings.put("slack", { SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET }, { principalId, audit });
  return async () => {
    await pubsub.stop();
    await database.close();
  };
}

/** How often the process started its application. */
function starts({ output }: Worker): number {
  return output().split('"app.started"').length - 1;
}

async function untilStarted(processes: readonly Worker[], count: number): Promise<void> {
  await waitFor(() => processes.every((one) => starts(one) === count), {
    what: `${count} starts of each process`,
    timeoutMs: WAIT_MS,
  });
}

async function webhookStatus({ url }: Worker): Promise<number> {
  return (await fetch(`${url}/webhooks/slack`, { method: "POST", body: "{}" })).status;
}

test(
  "stored settings switch an adapter on and off in all processes, and a run in work continues",
  { timeout: 240_000 },
  () =>
    withFaultHarness(
      async (harness) => {
        const [api, worker] = await Promise.all([
          harness.start({ ...WITHOUT_SLACK, ERRAND_ROLE: "api" }),
          harness.start({ ...WITHOUT_SLACK, ERRAND_ROLE: "worker" }),
        ]);
        const processes = [api, worker];
        const semaphore = harness.semaphore();
        const running = await harness.createRun(api, semaphore.step);
        await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 2 in%'");
        expect(await webhookStatus(api)).toBe(404);

        const close = await storeSlack(harness);
        await untilStarted(processes, 2);
        await close();
        await semaphore.open();

        const mentioned = await harness.mention(api, "say hello");
        await api.api.waitForState(mentioned, "SUCCEEDED");
        await api.api.waitForState(running, "SUCCEEDED");
        await waitFor(() => JSON.stringify(harness.slack.calls("chat.postMessage")).includes("hello"), {
          what: "the answer",
          timeoutMs: WAIT_MS,
        });

        await api.end("SIGTERM");
        const again = await harness.start({ ...WITHOUT_SLACK, ERRAND_ROLE: "api" });
        expect(await webhookStatus(again)).toBe(401);
        await harness.check();
        const removed = await again.api.call("DELETE", "/agent/installations/guides/slack/settings");
        expect(removed.status).toBe(200);
        await untilStarted([again], 2);
        await untilStarted([worker], 3);
        expect(await webhookStatus(again)).toBe(404);
      },
      { withSlack: true },
    ),
);
