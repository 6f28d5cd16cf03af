import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, startService } from "../../../../test/support/service.ts";
import { createTestDatabase } from "../../../../test/support/test-database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../../../test/support/webhook-receiver.ts";
import { Errand, type RunItem } from "../../src/index.ts";

/** The id of nothing. */
export const UNKNOWN = "00000000-0000-7000-8000-000000000000";

/** A service with a client, which the tests of all resources share. */
export interface ResourcesFixture {
  readonly service: Service;
  readonly receiver: WebhookReceiver;
  readonly client: Errand;
  /** Every request of `client`, as `GET /agent/runs`. */
  readonly requests: readonly string[];
  /** Starts a run and waits for its end. */
  endedRun(prompt: string): Promise<RunItem>;
  close(): Promise<void>;
}

export async function openResourcesFixture(): Promise<ResourcesFixture> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "errand-client-"));
  const receiver = await startWebhookReceiver();
  const service = await startService(dataDir, {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_WEBHOOK_ALLOW: "127.0.0.0/8",
  });
  const requests: string[] = [];
  const client = new Errand({
    baseUrl: service.url,
    apiKey: service.apiKey,
    fetch: (url, init) => {
      requests.push(`${init.method} ${new URL(url).pathname.replace("/api/v1", "")}`);
      return fetch(url, init);
    },
  });
  return {
    ...{ service, receiver, client, requests },
    async endedRun(prompt) {
      const { run_id } = await client.runs.create({ prompt });
      return client.runs.waitForCompletion(run_id);
    },
    async close() {
      await service.end("SIGTERM");
      await receiver.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
