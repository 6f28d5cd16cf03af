import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ApiAnswer, ApiClient, LoggedEvent } from "../../support/api-client.ts";
import { waitFor } from "../../support/wait-for.ts";
import { withFaultHarness } from "./fault-harness.ts";

const LIMIT = { timeout: 90_000 };

describe.concurrent("follow-ups", LIMIT, () => {
  test("follow-ups are accepted once and in order in every state of the run, and one turn takes each", () =>
    withFaultHarness(async (harness) => {
      const server = await harness.start({ ERRAND_ROLE: "api" });
      const { api } = server;
      const semaphore = harness.semaphore();
      const acting = await harness.createRun(server, semaphore.step);
      const quick = await harness.createRun(server, "say hello");
      const sent = new Map([acting, quick].map((runId) => [runId, [] as string[]]));
      const follow = async (runId: string, message: string) => {
        const answer = await sendUnder(randomUUID(), api, { runId, message });
        expect(answer.status, message).toBe(200);
        sent.get(runId)?.push(followUpIdIn(answer));
      };

      for (const runId of sent.keys()) {
        await follow(runId, "say while queued");
      }
      await harness.start({ ERRAND_ROLE: "worker" });
      await api.waitForState(acting, "INPROGRESS");
      await follow(acting, "say while it works");
      await semaphore.open();
      // Some of these arrive exactly at the end of a turn or of the run.
      for (let count = 1; count <= 10; count += 1) {
        for (const runId of sent.keys()) {
          await follow(runId, `say ${count}`);
        }
      }
      for (const runId of sent.keys()) {
        await untilAllTaken(api, runId);
      }
      for (const runId of sent.keys()) {
        await follow(runId, "say after the end");
      }

      for (const [runId, ids] of sent) {
        await untilAllTaken(api, runId);
        const events = await api.events(runId);
        expect(receivedIn(events)).toEqual(ids);
        expect(takenIn(events)).toEqual(ids);
        expect(events.filter(({ kind }) => kind === "turn.started").length).toBeGreaterThan(2);
      }
      await harness.check();
    }));

  test("fifty at once, each with its own key, are all stored in the order of their commits", () =>
    withFaultHarness(async (harness) => {
      const env = { ERRAND_ROLE: "api", ERRAND_DATABASE_CONNECTIONS: "8" };
      const [one, two] = await Promise.all([harness.start(env), harness.start(env)]);
      const runId = await harness.createRun(one, "say hello");
      const send = async (index: number) => {
        const { api } = index % 2 === 0 ? one : two;
        return sendUnder(`follow-up-${index}`, api, { runId, message: `say ${index}` });
      };

      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => send(index)));
      const again = await Promise.all(Array.from({ length: 50 }, (_, index) => send(index)));
      await harness.start({ ERRAND_ROLE: "worker" });
      await untilAllTaken(one.api, runId);

      const ids = answers.map(followUpIdIn);
      const rows = await harness.rows<{ id: string; message: string }>(
        "SELECT id::text, message FROM follow_ups WHERE run_id = $1 ORDER BY seq",
        runId,
      );
      const events = await one.api.events(runId);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(again.map(({ body }) => body)).toEqual(answers.map(({ body }) => body));
      expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(receivedIn(events)).toEqual(rows.map(({ id }) => id));
      expect(takenIn(events)).toEqual(rows.map(({ id }) => id));
      await harness.check();
    }));
});

/** Retries while the server is too busy, as the public clients do. */
async function sendUnder(
  key: string,
  api: ApiClient,
  { runId, message }: { readonly runId: string; readonly message: string },
): Promise<ApiAnswer> {
  const send = () =>
    api.call("POST", `/agent/runs/${runId}/followups`, { message }, { "idempotency-key": key });
  const isTaken = (answer: ApiAnswer) => (answer.status === 503 ? undefined : answer);
  return waitFor(async () => isTaken(await send()), { what: "the server to have time", timeoutMs: 30_000 });
}

function followUpIdIn({ body }: ApiAnswer): string {
  return String(Object(body).followup_id);
}

function receivedIn(events: readonly LoggedEvent[]): readonly string[] {
  return events.filter(({ kind }) => kind === "followup.received").map(({ followup_id: id }) => String(id));
}

/** The follow-ups in the order of the turns that took them. */
function takenIn(events: readonly LoggedEvent[]): readonly string[] {
  return events
    .filter(({ kind }) => kind === "turn.started")
    .flatMap(({ followup_ids: ids }) => ids as string[]);
}

async function untilAllTaken(api: ApiClient, runId: string): Promise<void> {
  const isDone = async () => {
    const { state } = await api.getRun(runId);
    const events = await api.events(runId);
    return state === "SUCCEEDED" && takenIn(events).length === receivedIn(events).length;
  };
  await waitFor(isDone, { what: `all follow-ups of ${runId} to be taken`, timeoutMs: 40_000 });
}
