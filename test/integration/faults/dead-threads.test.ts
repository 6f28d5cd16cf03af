import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

/** A channel that was archived, and a channel that was deleted. */
const FAULTS = [
  { method: "chat.postMessage", kind: "ok-false", error: "is_archived" },
  { method: "chat.update", kind: "ok-false", error: "channel_not_found" },
] as const;

interface Row {
  readonly state: string;
  readonly tries: number;
  readonly error: string | null;
}

test(
  "a message that cannot be posted any more is given up with its reason, which run and doctor tell, and can be sent again",
  { timeout: 90_000 },
  () =>
    withFaultHarness(
      async (harness) => {
        const { runId, semaphore, worker } = await startShownRun(harness);

        for (const fault of FAULTS) {
          harness.slack.faults.until(fault);
        }
        await semaphore.open();

        await worker.api.waitForState(runId, "SUCCEEDED");
        const deliveries = await waitForDeliveries(harness, runId);
        const dead = deliveries.filter(({ state }) => state === "dead");
        const reasons = dead.map(({ error }) => error).join("\n");
        for (const { error } of FAULTS) {
          expect(reasons).toContain(error);
        }
        expect(Math.max(...deliveries.map(({ tries }) => tries))).toBeLessThanOrEqual(2);
        harness.slack.faults.clear();

        // The run and the doctor say so, also after the run has ended, and an administrator can send them again.
        const { body: run } = await worker.api.call("GET", `/agent/runs/${runId}`);
        expect(JSON.stringify(run)).toContain(
          "could not be posted: Slack refused chat.postMessage: is_archived.",
        );
        expect(JSON.stringify(run)).toContain("Unarchive the channel, or ask in another one.");
        const { body: doctor } = await worker.api.call("GET", "/agent/doctor");
        const { checks } = doctor as { checks: { name: string; status: string; message: string }[] };
        expect(checks.find(({ message }) => message.includes("slack: "))).toMatchObject({ status: "warn" });
        await sendAgain(worker, runId);
        const again = await waitForDeliveries(harness, runId);
        expect(again.filter(({ state }) => state === "dead")).toEqual([]);
        await harness.check();

        // The first thread accepts no more messages, but other threads do, and the run itself continues like any
        // other.
        await worker.api.followUp(runId, "say more", { visibility: "private" });
        const other = await harness.mention(worker, "say hello");
        for (const id of [runId, other]) {
          await worker.api.waitForState(id, "SUCCEEDED");
        }
        expect(
          (await waitForDeliveries(harness, other)).every(
            ({ state }) => state === "sent" || state === "replaced",
          ),
        ).toBe(true);
        // Messages that could not be delivered to the first thread are missing there for good.
        await harness.check({ threads: [] });
      },
      { withSlack: true },
    ),
);

test(
  "while the token is revoked, the run continues and the installation says why, and nothing is lost",
  { timeout: 90_000 },
  () =>
    withFaultHarness(
      async (harness) => {
        const { runId, semaphore, worker } = await startShownRun(harness);

        for (const method of ["chat.postMessage", "chat.update", "reactions.add"]) {
          harness.slack.faults.until({ method, kind: "ok-false", error: "token_revoked" });
        }
        await semaphore.open();
        await worker.api.waitForState(runId, "SUCCEEDED");

        // Every refused call is named in its turn, so the method may differ from one read to the next.
        const refused = /token_revoked\. Reinstall the app and set its new SLACK_BOT_TOKEN/;
        const problem = await waitFor(() => problemOf(worker), { what: "the problem of the installation" });
        expect(problem).toMatch(refused);
        const { body: doctor } = await worker.api.call("GET", "/agent/doctor");
        const { checks } = doctor as { checks: { name: string; status: string; message: string }[] };
        expect(checks.find(({ name }) => name === "adapters")).toMatchObject({
          status: "fail",
          message: expect.stringMatching(refused),
        });

        harness.slack.faults.clear();
        const deliveries = await waitForDeliveries(harness, runId);
        expect(deliveries.filter(({ state }) => state === "dead")).toEqual([]);
        await waitFor(async () => (await problemOf(worker)) === undefined, { what: "no problem to be left" });
        await harness.check();
      },
      { withSlack: true },
    ),
);

test(
  "after the first message of a thread was deleted, the run ends as usual and says so, and its channel gets no answer",
  { timeout: 90_000 },
  () =>
    withFaultHarness(
      async (harness) => {
        const { runId, semaphore, worker } = await startShownRun(harness);
        const { slack } = harness;
        const { thread_ts: ts = "" } = slack.calls("chat.postMessage")[0]?.args ?? {};

        const { alice: user, channel } = slack;
        await slack.deleteAs({ channel, clientMsgId: "", text: "", threadTs: undefined, ts, user });
        await semaphore.open();

        await worker.api.waitForState(runId, "SUCCEEDED");
        const deliveries = await waitForDeliveries(harness, runId);
        const reasons = deliveries.flatMap(({ error, state }) => (state === "dead" ? [error] : []));
        expect(reasons).toContainEqual(expect.stringContaining("its first message was deleted"));
        expect(JSON.stringify(slack.channelMessages(slack.channel.id))).not.toContain("the closing words");
        const { body: run } = await worker.api.call("GET", `/agent/runs/${runId}`);
        expect(JSON.stringify(run)).toContain("its first message was deleted");
        // The thread is gone, and with it what it should show.
        await harness.check({ threads: [] });
      },
      { withSlack: true },
    ),
);

/** A run whose card is shown, and which says its closing words when the semaphore is opened. */
async function startShownRun(harness: FaultHarness) {
  const worker = await harness.start();
  const semaphore = harness.semaphore();
  const runId = await harness.mention(worker, `${semaphore.step}\nsay the closing words`);
  await waitFor(() => harness.slack.calls("chat.postMessage").length > 0, { what: "the card to be shown" });
  return { runId, semaphore, worker };
}

async function problemOf({ api }: Worker): Promise<string | undefined> {
  const { body } = await api.call("GET", "/agent/installations");
  const { installations } = body as { installations: { problem?: string }[] };
  return installations[0]?.problem;
}

async function sendAgain({ api }: Worker, runId: string): Promise<void> {
  const { body } = await api.call("GET", `/agent/notices?run_id=${runId}&state=dead`);
  const { notices } = body as { notices: { id: string }[] };
  expect(notices.length).toBeGreaterThan(0);
  for (const { id } of notices.toReversed()) {
    const { status } = await api.call("POST", `/agent/notices/${id}/retry`);
    expect(status).toBeLessThan(300);
  }
}

/** Returns all deliveries for the threads of the run, when none is waiting. */
function waitForDeliveries(harness: FaultHarness, runId: string): Promise<readonly Row[]> {
  const sql = `SELECT d.state, d.tries, d.error FROM outbox_deliveries d
                 JOIN thread_runs t ON t.thread_id = d.thread_id WHERE t.run_id = $1 ORDER BY d.id`;
  const find = async () => {
    const rows = await harness.rows<Row>(sql, runId);
    return rows.some(({ state }) => state === "waiting") ? undefined : rows;
  };
  return waitFor(find, { what: "no notice to be left", timeoutMs: 60_000 });
}
