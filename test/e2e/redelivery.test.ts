import { randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { type ChaosProxy, startChaosProxy } from "../support/chaos-proxy.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";
import type { KeyedSemaphore } from "./gate.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

/** Slack waits this long for a response, and GitHub as long as the next constant. */
const SLACK_LIMIT_MS = 3_000;
const GITHUB_LIMIT_MS = 10_000;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let server: PostgresServer;
/** The proxy between the service and its database. */
let link: ChaosProxy;
let fixture: Fixture;

beforeAll(async () => {
  server = await startPostgresServer();
  const { port, pathname } = new URL(server.url);
  link = await startChaosProxy(Number(port));
  fixture = await Fixture.open({
    DATABASE_URL: `postgresql://errand@127.0.0.1:${link.port}${pathname}`,
    ERRAND_SECRET_KEY: `secret-${randomUUID()}`,
    ERRAND_ADMIN_KEY: `key-${randomUUID()}`,
    ERRAND_SANDBOX: "local",
  });
});

afterEach(() => fixture.checkInvariants(server.url));

afterAll(async () => {
  await fixture?.close();
  await link?.stop();
  await server?.stop();
});

describe("a redelivered event", () => {
  test("an event from Slack that is delivered four times at once and again after a restart makes one run", async () => {
    const thread = await SlackThread.post(fixture, "say once");
    const eventId = `Ev${randomUUID()}`;
    const send = (retryNum?: number) => fixture.sendSlack(thread.mention.appMention, { eventId, retryNum });

    const first = await Promise.all([send(), send(1), send(2), send(3)]);
    await thread.untilAnswers(1);
    await fixture.service.end("SIGTERM");
    await fixture.start();
    const late = await send(3);
    await dispositionOf(eventId);

    expect([...first, late].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
    expect(thread.messages).toHaveLength(2);
  });

  test("an event from GitHub with the same delivery id, or the same body under a new id, makes one run", async () => {
    const issue = await GithubIssue.open(fixture);
    const written = await fixture.github.commentAs(
      fixture.github.writer.login,
      issue.number,
      "@errand say once",
    );
    const [deliveryId, fresh] = [randomUUID(), randomUUID()];

    const first = await fixture.sendGithub({ ...written, deliveryId });
    const again = await fixture.sendGithub({ ...written, deliveryId });
    const replayed = await fixture.sendGithub({ ...written, deliveryId: fresh });
    await issue.untilCard("Done");

    expect([first.status, again.status, replayed.status]).toEqual([202, 200, 202]);
    expect(await dispositionOf(deliveryId)).toBe("run_created");
    expect(await dispositionOf(fresh)).toBe("duplicate");
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
    expect((await fixture.api.getRun(issue.runId)).state).toBe("SUCCEEDED");
    expect([issue.cards.length, issue.answers.length, issue.replies.length]).toEqual([1, 1, 0]);
  });
});

test("requests on GitHub that were sent while no process ran become runs after the next start, one each", async () => {
  const { github } = fixture;
  const { login } = github.writer;
  const [asked, corrected] = [await GithubIssue.open(fixture), await GithubIssue.open(fixture)];

  await fixture.service.end("SIGTERM");
  github.loseWebhook(await github.commentAs(login, asked.number, "@errand say found"));
  const original = await github.commentAs(login, corrected.number, "@errand say the wrong words");
  github.loseWebhook(original);
  github.loseWebhook(await github.editAs(login, original, "@errand say the right words"));
  await fixture.start();
  const [answer] = await asked.untilAnswers(1);
  await corrected.untilAnswers(1);
  const saidTo = async (id: string) => [await fixture.api.getRun(id), await fixture.followUpsOf(id)];
  const isCorrected = async () => JSON.stringify(await saidTo(corrected.runId)).includes("the right words");
  await waitFor(isCorrected, { what: "the agent to get the edited request", timeoutMs: WAIT_LIMIT_MS });

  expect(answer).toContain("found");
  for (const issue of [asked, corrected]) {
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  }
});

describe("while the database is unavailable", () => {
  test("events are refused in time while the database is unavailable, and redelivery makes their runs", async () => {
    const thread = await SlackThread.post(fixture, "say after all");
    const issue = await GithubIssue.open(fixture);
    const written = await fixture.github.commentAs(
      fixture.github.writer.login,
      issue.number,
      "@errand say after all",
    );
    const [eventId, deliveryId] = [`Ev${randomUUID()}`, randomUUID()];

    link.blackHole();
    const [slack, github] = await Promise.all([
      timed(() => fixture.sendSlack(thread.mention.appMention, { eventId })),
      timed(() => fixture.sendGithub({ ...written, deliveryId })),
    ]);
    link.resetAll();
    link.heal();
    await untilReady();
    const retried = await fixture.sendSlack(thread.mention.appMention, { eventId, retryNum: 1 });
    const redelivered = await fixture.sendGithub({ ...written, deliveryId });

    expect([slack.status, github.status]).toEqual([503, 503]);
    expect(slack.afterMs).toBeLessThan(SLACK_LIMIT_MS);
    expect(github.afterMs).toBeLessThan(GITHUB_LIMIT_MS);
    expect([retried.status, redelivered.status]).toEqual([200, 202]);
    await Promise.all([thread.untilAnswers(1), issue.untilCard("Done")]);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  });

  test("an event whose process died before storing it is accepted from Slack's retry", async () => {
    const thread = await SlackThread.post(fixture, "say after all");
    const eventId = `Ev${randomUUID()}`;

    link.blackHole();
    const unanswered = fixture.sendSlack(thread.mention.appMention, { eventId }).catch(() => "no answer");
    await fixture.kill();
    link.resetAll();
    link.heal();
    await fixture.start();
    const retried = await fixture.sendSlack(thread.mention.appMention, { eventId, retryNum: 1 });

    expect(await unanswered).toBe("no answer");
    expect(retried.status).toBe(200);
    await thread.untilAnswers(1);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
  });
});

describe("a killed process", () => {
  test("a process killed between acknowledgement and run leaves the event to the next process", async () => {
    await fixture.kill();
    // A process with the role `api` stores events and handles none.
    await fixture.start({ ERRAND_ROLE: "api" });
    const thread = await SlackThread.open(fixture, "say after all");
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say after all");
    const before = [...(await fixture.runsFrom(thread)), ...(await fixture.runsFrom(issue))];

    await fixture.kill();
    await fixture.start();
    await Promise.all([thread.untilAnswers(1), issue.untilCard("Done")]);

    expect(before).toEqual([]);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  });

  test("a process killed between its first posts and their receipts causes no second post", async () => {
    const killed = killWhenBoth(fixture.slackGate, fixture.githubGate);
    const thread = await SlackThread.open(fixture, "say hello");
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say hello");

    await killed;
    const left = [thread.cards.length, issue.cards.length];
    await fixture.start();
    await Promise.all([thread.untilAnswers(1), thread.untilCard("Succeeded"), issue.untilCard("Done")]);

    expect(left).toEqual([1, 1]);
    expect(thread.messages).toHaveLength(2);
    expect([issue.cards.length, issue.answers.length, issue.replies.length]).toEqual([1, 1, 0]);
  });
});

test("a process that is asked to stop leaves unsent notices to the next process", async () => {
  const stopping = Promise.withResolvers<number | null>();
  fixture.slackGate.beforeAnswer(isReaction, async () => {
    const exit = fixture.service.end("SIGTERM");
    await waitFor(() => isDeaf(fixture.service.url), { what: "the service to take no more requests" });
    stopping.resolve(exit);
  });
  const thread = await SlackThread.open(fixture, "say hello");

  const exitCode = await stopping.promise;
  const before = thread.messages;
  await fixture.start();

  expect(exitCode).toBe(0);
  expect(before).toEqual([]);
  await Promise.all([thread.untilAnswers(1), thread.untilCard("Succeeded")]);
  expect(thread.messages).toHaveLength(2);
});

describe("a post whose response is lost", () => {
  test("a card and an answer whose responses are lost appear once in Slack", async () => {
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });
    const thread = await SlackThread.open(fixture, "sleep 2; say hello");

    await waitFor(() => updatesOf(thread) > 0, { what: "the card to be found and edited" });
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });
    await thread.untilAnswers(1);
    await thread.untilCard("Succeeded");
    await untilPosted(thread.root.ts);

    expect(dropped("chat.postMessage")).toBe(2);
    expect(thread.messages).toHaveLength(2);
  });

  test("a card and a closing answer whose responses are lost appear once on GitHub", async () => {
    const path = /\/issues\/\d+\/comments$/;
    fixture.github.faults.next({ method: "POST", path, kind: "drop-after-write" });
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand sleep 2; say hello");

    await waitFor(() => issue.cards.length > 0, { what: "the card to be shown" });
    fixture.github.faults.next({
      method: "PATCH",
      path: /\/issues\/comments\/\d+$/,
      kind: "drop-after-write",
    });
    await issue.untilCard("Done");
    await issue.untilAnswers(1);
    await untilPosted(String(issue.number));

    const lost = fixture.github.calls().filter(({ outcome }) => outcome === "drop-after-write");
    expect(lost.map(({ method }) => method)).toEqual(["POST", "PATCH"]);
    expect([issue.cards.length, issue.answers.length, issue.replies.length]).toEqual([1, 1, 0]);
  });
});

test("a channel that Slack throttles delays no other channel and loses nothing", async () => {
  fixture.slack.faults.next({ method: "chat.postMessage", kind: "429", retryAfterSeconds: 20 });
  const held = await SlackThread.open(fixture, "say late");
  await waitFor(() => fixture.slack.calls("chat.postMessage").some(({ outcome }) => outcome === "429"), {
    what: "Slack to refuse a post",
  });
  const refusedAt = performance.now();

  const other = await SlackThread.open(fixture, "say soon", ["appMention"], "private-room");
  await waitFor(() => other.messages.length > 0, { what: "a card in the other channel" });
  const heldMeanwhile = held.messages.length;
  await held.untilAnswers(1);

  expect(heldMeanwhile).toBe(0);
  expect(performance.now() - refusedAt).toBeGreaterThan(19_900);
  expect(held.messages).toHaveLength(2);
  expect(held.messages[0]).toEqual(held.cards[0]);
});

/** Kills the service after it has posted to both platforms and before it has received a response. */
async function killWhenBoth(slackGate: KeyedSemaphore, githubGate: KeyedSemaphore): Promise<void> {
  const inSlack = Promise.withResolvers<void>();
  const onGithub = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  const arrive = (place: typeof killed) => () => {
    place.resolve();
    return killed.promise;
  };
  slackGate.beforeAnswer(isPost, arrive(inSlack));
  githubGate.beforeAnswer(isNewComment, arrive(onGithub));
  await Promise.all([inSlack.promise, onGithub.promise]);
  await fixture.kill();
  killed.resolve();
}

function isPost({ path }: { readonly path: string }): boolean {
  return path.endsWith("/chat.postMessage");
}

function isReaction({ path }: { readonly path: string }): boolean {
  return path.endsWith("/reactions.add");
}

function isDeaf(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );
}

function isNewComment({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method === "POST" && /\/issues\/\d+\/comments$/.test(path);
}

async function timed(
  send: () => Promise<Response>,
): Promise<{ readonly status: number; readonly afterMs: number }> {
  const began = performance.now();
  const { status } = await send();
  return { status, afterMs: performance.now() - began };
}

async function untilReady(): Promise<void> {
  const isReady = async () => (await fetch(`${fixture.service.url}/readyz`)).ok;
  await waitFor(isReady, { what: "the service to be ready" });
}

/** Returns the disposition of a delivery as soon as it has one. */
async function dispositionOf(deliveryId: string): Promise<string> {
  const sql = "SELECT disposition FROM inbox_events WHERE delivery_id = $1";
  const find = async () => (await rows<{ disposition: string | null }>(sql, deliveryId))[0];
  return waitFor(async () => (await find())?.disposition, { what: `delivery ${deliveryId} to be settled` });
}

/** Waits until the threads whose key ends with `key` have no unsent notices. */
async function untilPosted(key: string): Promise<void> {
  const sql = `SELECT 1 FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
                WHERE d.state = 'waiting' AND t.key LIKE '%/' || $1`;
  const isTold = async () => (await rows(sql, key)).length === 0;
  await waitFor(isTold, { what: "everything to be told" });
}

function rows<Row extends QueryResultRow>(sql: string, value: string): Promise<Row[]> {
  const session = { applicationName: "errand tests", queryLimitMs: 10_000 };
  return withConnection(server.url, session, async (client) => (await client.query<Row>(sql, [value])).rows);
}

function updatesOf(thread: SlackThread): number {
  return fixture.slack.calls("chat.update").filter(({ args }) => args.ts === thread.cards[0]?.ts).length;
}

function dropped(method: string): number {
  return fixture.slack.calls(method).filter(({ outcome }) => outcome === "drop-after-write").length;
}
