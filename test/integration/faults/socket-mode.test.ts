import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eventEnvelope } from "../../support/slack/slack-events.ts";
import { SocketModeServer } from "../../support/slack/socket-mode-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, withFaultHarness } from "./fault-harness.ts";

const TEST_LIMIT_MS = 120_000;

/** Runs `work` with processes that have no signing secret and no address that Slack knows. */
async function withSocketMode(
  work: (harness: FaultHarness, slack: SocketModeServer, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  await withFaultHarness(
    async (harness) => {
      await using cleanup = new AsyncDisposableStack();
      const slack = await SocketModeServer.start(harness.slack.apiUrl);
      cleanup.defer(() => slack.stop());
      const env = { SLACK_SIGNING_SECRET: "", SLACK_APP_TOKEN: slack.appToken, SLACK_API_URL: slack.apiUrl };
      await work(harness, slack, env);
      await harness.check({ canaries: [slack.appToken, harness.slack.botToken] });
    },
    { withSlack: true },
  );
}

async function aMention({ slack }: FaultHarness, text: string) {
  const { appMention } = await slack.mention(slack.alice, { channel: "work", text });
  const eventId = `Ev${randomUUID()}`;
  return { eventId, payload: eventEnvelope(slack.workspace, slack.app, appMention, { eventId }) };
}

test(
  "an event whose process is killed between storing and acknowledging it is sent again and has one effect",
  { timeout: TEST_LIMIT_MS },
  () =>
    withSocketMode(async (harness, slack, env) => {
      const first = await harness.start({ ...env, ERRAND_ROLE: "api" });
      const connection = await slack.connected();
      const { eventId, payload } = await aMention(harness, "say once");

      // The acknowledgement does not reach Slack.
      connection.socket.pause();
      connection.deliver({ type: "events_api", payload });
      await harness.waitForRow("SELECT 1 FROM inbox_events WHERE delivery_id = $1", eventId);
      await first.end("SIGKILL");
      connection.socket.terminate();
      expect(connection.acknowledged).toEqual([]);
      await harness.start(env);
      const next = await slack.connected();
      const again = next.deliver({ type: "events_api", payload, attempt: 1 });

      expect(await next.acknowledgementOf(again)).toEqual({ envelope_id: again });
      await harness.runOf(eventId);
      expect(await harness.rows("SELECT 1 FROM inbox_events")).toHaveLength(1);
      expect(await harness.rows("SELECT 1 FROM runs")).toHaveLength(1);
    }),
);

test(
  "an event is not acknowledged while the database does not answer, and its repetition has one effect",
  { timeout: TEST_LIMIT_MS },
  () =>
    withSocketMode(async (harness, slack, env) => {
      const worker = await harness.start(env);
      const connection = await slack.connected();
      const { eventId, payload } = await aMention(harness, "say after all");

      await harness.whileTableLocked("inbox_events", async () => {
        connection.deliver({ type: "events_api", payload });
        const isLogged = () => worker.output().includes("slack.socket.not_stored");
        await waitFor(isLogged, { what: "the failure to be logged", timeoutMs: 10_000 });
        expect(connection.acknowledged).toEqual([]);
      });
      const again = connection.deliver({ type: "events_api", payload, attempt: 1 });

      expect(await connection.acknowledgementOf(again)).toEqual({ envelope_id: again });
      await harness.runOf(eventId);
      expect(await harness.rows("SELECT 1 FROM runs")).toHaveLength(1);
    }),
);

test(
  "two processes hold a connection each, and only those that serve the API do",
  { timeout: TEST_LIMIT_MS },
  () =>
    withSocketMode(async (harness, slack, env) => {
      await harness.start({ ...env, ERRAND_ROLE: "worker" });
      await harness.start({ ...env, ERRAND_ROLE: "api" });
      const api = await harness.start({ ...env, ERRAND_ROLE: "api" });
      await slack.connected(2);
      const { eventId, payload } = await aMention(harness, "say hello");

      // Slack sends an event to one of them, and a repetition to any.
      for (const [attempt, connection] of slack.connections.entries()) {
        const id = connection.deliver({ type: "events_api", payload, attempt });
        await connection.acknowledgementOf(id);
      }

      await harness.runOf(eventId);
      expect(await harness.rows("SELECT 1 FROM runs")).toHaveLength(1);
      await api.end("SIGTERM");
      await slack.connected(1);
      const webhook = await fetch(`${api.url}/webhooks/slack`, { method: "POST" }).catch(() => undefined);
      expect(webhook).toBeUndefined();
    }),
);
