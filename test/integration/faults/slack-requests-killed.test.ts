import { expect, test } from "vitest";
import { startFrontServer } from "../../support/front-server.ts";
import { slashCommandForm } from "../../support/slack/slack-events.ts";
import { sendSlackForm } from "../../support/slack/slack-sender.ts";
import type { ShownView } from "../../support/slack/slack-workspace.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

const TEST_LIMIT_MS = 180_000;
const PROMPT = "say once";

/** Sends the same request each time, as a person or Slack repeats it. */
type Request = (url: string) => Promise<Response>;

function command({ slack }: FaultHarness, text: string): Request {
  const { alice: user, app, dialogs, signingSecret, workspace } = slack;
  const facts = { channel: "work", command: "/errand", text, triggerId: dialogs.newTrigger(user), user };
  const form = slashCommandForm(workspace, app, facts, "http://127.0.0.1:9/response");
  return (url) => sendSlackForm(url, form, { signingSecret });
}

async function shortcut({ slack }: FaultHarness): Promise<Request> {
  const { alice, bob, dialogs } = slack;
  const { ts } = await slack.postAs(bob, { channel: "work", text: "It fails" });
  const message = { ts, user: bob.id, text: "It fails" };
  return (url) =>
    dialogs.sendShortcut(url, { callbackId: "errand_send", user: alice, channel: "work", message });
}

function lastView({ slack }: FaultHarness): ShownView {
  return slack.dialogs.viewsOf(slack.alice).at(-1) ?? expect.fail("No form was opened.");
}

/** The submission of the form that this request opens. */
async function submission(harness: FaultHarness, open: Request, at: Worker): Promise<Request> {
  expect((await open(webhookOf(at))).status).toBe(200);
  const view = lastView(harness);
  const { alice: user, dialogs } = harness.slack;
  return (url) => dialogs.sendSubmission(url, { user, view, values: { prompt: PROMPT } });
}

function webhookOf({ url }: Pick<Worker, "url">): string {
  return `${url}/webhooks/slack`;
}

/** Sends the request to a process that is killed after it has answered, before the answer reaches Slack. */
async function sendToKilled(request: Request, worker: Worker): Promise<void> {
  const front = await startFrontServer(async ({ body, headers, method, path }) => {
    const passed = new Headers(headers);
    for (const name of ["host", "connection", "content-length"]) {
      passed.delete(name);
    }
    const answer = await fetch(`${worker.url}${path}`, {
      method,
      headers: passed,
      body: new Uint8Array(body),
    });
    expect(answer.status).toBe(200);
    await worker.end("SIGKILL");
    return "drop";
  });
  try {
    await expect(request(webhookOf(front))).rejects.toThrow();
  } finally {
    await front.stop();
  }
}

const STORED: readonly [string, (harness: FaultHarness, at: Worker) => Request | Promise<Request>][] = [
  ["a command", (harness) => command(harness, PROMPT)],
  ["a form", (harness, at) => submission(harness, command(harness, ""), at)],
  ["a form of the shortcut", async (harness, at) => submission(harness, await shortcut(harness), at)],
];

test.each(STORED)(
  "%s whose process is killed before and after it stores it has one effect when it is sent again",
  { timeout: TEST_LIMIT_MS },
  (_name, requestOf) =>
    withFaultHarness(
      async (harness) => {
        const first = await harness.start({ ERRAND_ROLE: "api" });
        const request = await requestOf(harness, first);
        await harness.whileTableLocked("inbox_events", async () => {
          const answer = request(webhookOf(first)).then(
            ({ ok }) => ok,
            () => false,
          );
          await harness.waitForRow(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'inbox_events'::regclass",
          );
          await first.end("SIGKILL");
          expect(await answer).toBe(false);
        });

        await sendToKilled(request, await harness.start({ ERRAND_ROLE: "api" }));
        expect(await harness.rows("SELECT 1 FROM inbox_events")).toHaveLength(1);
        const last = await harness.start();
        expect((await request(webhookOf(last))).status).toBe(200);

        const sql = "SELECT prompt FROM runs WHERE state = 'SUCCEEDED'";
        expect(await harness.waitForRow(sql)).toEqual({ prompt: PROMPT });
        expect((await request(webhookOf(last))).status).toBe(200);
        expect(await harness.rows("SELECT disposition FROM inbox_events")).toEqual([
          { disposition: "run_created" },
        ]);
        expect(await harness.rows("SELECT 1 FROM runs")).toHaveLength(1);
        await harness.check();
      },
      { withSlack: true },
    ),
);

test(
  "a shortcut whose process is killed opens its form when it is used again, and starts nothing by itself",
  {
    timeout: TEST_LIMIT_MS,
  },
  () =>
    withFaultHarness(
      async (harness) => {
        const request = await shortcut(harness);
        await sendToKilled(request, await harness.start({ ERRAND_ROLE: "api" }));
        const next = await harness.start();
        expect((await request(webhookOf(next))).status).toBe(200);

        expect(harness.slack.dialogs.viewsOf(harness.slack.alice)).toHaveLength(2);
        expect(await harness.rows("SELECT 1 FROM inbox_events")).toEqual([]);
        expect(await harness.rows("SELECT 1 FROM runs")).toEqual([]);
      },
      { withSlack: true },
    ),
);
