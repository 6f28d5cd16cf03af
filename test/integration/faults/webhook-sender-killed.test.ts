import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { answerWith, type ReceivedPost, startWebhookReceiver } from "../../support/webhook-receiver.ts";
import { withFaultHarness } from "./fault-harness.ts";

const ALLOW = { ERRAND_WEBHOOK_ALLOW: "127.0.0.1" };

test(
  "when a webhook sender is killed during a post, the next one repeats that message and sends the rest in order",
  { timeout: 90_000 },
  () =>
    withFaultHarness(async (harness) => {
      const receiver = await startWebhookReceiver();
      // The first message after the creation of the run hangs until its sender is killed.
      receiver.answer = (response, post) => {
        if (typeOf(post) !== "run.pending") {
          response.writeHead(200).end();
        }
      };
      const killed = await harness.start(ALLOW);
      const made = await killed.api.call("POST", "/agent/webhooks", { url: receiver.url });
      const { id, secret } = made.body as { id: string; secret: string };
      const runId = await harness.createRun(killed, "say hello");
      await killed.api.waitForState(runId, "SUCCEEDED");
      await waitFor(() => receiver.posts.some((post) => typeOf(post) === "run.pending"), {
        what: "the post that hangs",
      });

      await killed.end("SIGKILL");
      receiver.answer = answerWith(204);
      const next = await harness.start(ALLOW);
      // The message that it had taken is due again after a minute.
      await harness.rows("UPDATE webhook_deliveries SET due_at = now() WHERE state = 'waiting'");
      const stateChanges = await harness.rows<{ seq: number }>(
        "SELECT seq FROM run_events WHERE run_id = $1 AND kind IN ('run.created', 'run.state') ORDER BY seq",
        runId,
      );
      // The killed process may not have read the last ones from the log.
      const delivered = "SELECT 1 FROM webhook_deliveries WHERE state = 'delivered'";
      await waitFor(async () => (await harness.rows(delivered)).length === stateChanges.length, {
        what: "everything to be delivered",
      });

      const pending = receiver.posts.filter((post) => typeOf(post) === "run.pending");
      expect(new Set(pending.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      const messages = receiver.posts.map(({ body, headers }) =>
        new Webhook(secret).verify(body, headers as Record<string, string>),
      );
      const seqs = (messages as { data: { seq: number } }[]).map(({ data }) => data.seq);
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      expect([...new Set(seqs)]).toEqual(stateChanges.map(({ seq }) => seq));
      const detail = await next.api.call(
        "GET",
        `/agent/webhooks/${id}/deliveries/${pending[0]?.headers["webhook-id"]}`,
      );
      expect(detail.body).toMatchObject({
        state: "delivered",
        tries: 2,
        history: [{ number: 2, status: 204 }],
      });
      await harness.check({ canaries: [secret] });
      await receiver.close();
    }),
);

function typeOf({ body }: ReceivedPost): string {
  return (JSON.parse(body) as { type: string }).type;
}
