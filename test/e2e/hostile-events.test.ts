import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { startFrontServer } from "../support/front-server.ts";
import { asRecord, isRecord, type JsonRecord } from "../support/json.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { eventEnvelope } from "../support/slack/slack-events.ts";
import { sendSlackJson } from "../support/slack/slack-sender.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

/** The longest time for which hostile events may hold up their thread. */
const HOLD_UP_MS = 30_000;
const SLACK_LIMIT_MS = 3_000;
const EVENTS = 150;
const SEED = 20_761_123;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let server: PostgresServer;
let fixture: Fixture;

beforeAll(async () => {
  server = await startPostgresServer();
  fixture = await Fixture.open({
    DATABASE_URL: server.url,
    ERRAND_SECRET_KEY: `secret-${randomUUID()}`,
    ERRAND_ADMIN_KEY: `key-${randomUUID()}`,
    ERRAND_SANDBOX: "local",
  });
});

afterEach(() => fixture.checkInvariants(server.url));

afterAll(async () => {
  await fixture?.close();
  await server?.stop();
});

/** Values that no program of Slack or GitHub sends, and that break parsers, databases and timers. */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "1.\udfff",
    "C".repeat(10_000),
    "x".repeat(1_000_000),
    -1,
    0,
    1e308,
    true,
    {},
    [],
    [null],
    [[null]],
    { id: null },
    { __proto__: null, constructor: 1, length: -1 },
    nested(1_000),
    "../../etc/passwd",
    "<@U0><!channel>\u202e",
  ),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.jsonValue({ maxDepth: 3 }),
);

function nested(depth: number): unknown {
  return JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
}

/** The payload with one to three members replaced or removed, at any depth. */
function hostileVersionsOf(payload: JsonRecord): readonly JsonRecord[] {
  const paths = pathsOf(payload);
  const change = fc.record({
    path: fc.constantFrom(...paths),
    value: fc.option(hostileValue, { nil: undefined }),
  });
  const versions = fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce((json, { path, value }) => asRecord(withMember(json, path, value)), payload),
    );
  return fc.sample(versions, { numRuns: EVENTS, seed: SEED });
}

function pathsOf(value: unknown): (readonly string[])[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, member]) => [
    [name],
    ...pathsOf(member).map((path) => [name, ...path]),
  ]);
}

function withMember(json: unknown, [name = "", ...rest]: readonly string[], value: unknown): unknown {
  if (Array.isArray(json)) {
    return json.map((member, index) => (String(index) === name ? changed(member, rest, value) : member));
  }
  return isRecord(json) ? { ...json, [name]: changed(json[name], rest, value) } : json;
}

function changed(member: unknown, rest: readonly string[], value: unknown): unknown {
  return rest.length === 0 ? value : withMember(member, rest, value);
}

/** The statuses of all answers. Eight requests are open at a time. */
async function sendAll(
  payloads: readonly JsonRecord[],
  send: (payload: JsonRecord) => Promise<Response>,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  const waiting = [...payloads];
  const sendNext = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      statuses.push((await send(next)).status);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendNext));
  return statuses;
}

function untilNothingWaits(): Promise<boolean> {
  const session = { applicationName: "errand tests", queryLimitMs: 10_000 };
  const sql =
    "SELECT failures, reason, name, delivery_id, ordering_key, left(body, 1000) AS body FROM inbox_events WHERE disposition IS NULL";
  return withConnection(server.url, session, (client) =>
    waitFor(
      async () => {
        const { rows } = await client.query(sql);
        if (rows.length > 0) {
          throw new Error(JSON.stringify(rows.slice(0, 3)));
        }
        return true;
      },
      { what: "every event to have its disposition", timeoutMs: HOLD_UP_MS },
    ),
  );
}

test("hostile events that Slack signed are never answered with 5xx, and do not hold up their thread", async () => {
  const { slack, service } = fixture;
  const thread = await SlackThread.post(fixture, "help");
  const url = `${service.url}/webhooks/slack`;
  const payload = eventEnvelope(slack.workspace, slack.app, thread.mention.appMention, {});
  const sent = hostileVersionsOf(payload).map((version, index) => ({ event_id: `Ev${index}`, ...version }));

  const statuses = await sendAll(sent, (json) =>
    sendSlackJson(url, json, { signingSecret: slack.signingSecret }),
  );
  await thread.deliver(thread.mention.message);

  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  await untilNothingWaits();
});

test("hostile deliveries that GitHub signed are never answered with 5xx, and do not hold up their issue", async () => {
  const { github, service } = fixture;
  const issue = await GithubIssue.open(fixture);
  const written = await github.commentAs(github.writer.login, issue.number, "@errand help");
  const url = `${service.url}/webhooks/github`;

  const statuses = await sendAll(hostileVersionsOf(written.payload), (payload) =>
    github.sendWebhook(url, { event: written.event, payload, deliveryId: randomUUID() }),
  );
  const last = await fixture.sendGithub(written);

  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(last.status).toBe(202);
  await untilNothingWaits();
});

test("a signed delivery of 25 MB is stored, and other callers hardly notice it", async () => {
  const { github, service } = fixture;
  const issue = await GithubIssue.open(fixture);
  const written = await github.commentAs(github.writer.login, issue.number, "A long log without a mention.");
  const payload = { ...written.payload, filler: "x".repeat(25 * 1024 * 1024 - 20_000) };
  const answered = Promise.withResolvers<number>();

  const waits: number[] = [];
  void fixture
    .sendGithub({ ...written, payload })
    .then(({ status }) => answered.resolve(status), answered.reject);
  const status = await waitFor(
    async () => {
      const began = performance.now();
      await fetch(`${service.url}/readyz`);
      waits.push(performance.now() - began);
      return Promise.race([answered.promise, undefined]);
    },
    { what: "the answer", everyMs: 1 },
  );

  expect(status).toBe(202);
  expect(Math.max(...waits), "the longest wait of another caller").toBeLessThan(2_000);
});

test("an event is acknowledged in time while Slack does not answer and workers are busy", async () => {
  const silent = await startFrontServer(() => new Promise(() => undefined));
  await fixture.service.end("SIGTERM");
  await fixture.start({ SLACK_API_URL: `${silent.url}/api/` });
  const threads = await Promise.all(
    Array.from({ length: 20 }, (_, index) => SlackThread.post(fixture, `say ${index}`)),
  );

  const waits: number[] = [];
  for (const thread of threads) {
    const began = performance.now();
    await thread.deliver(thread.mention.appMention);
    waits.push(performance.now() - began);
  }

  expect(Math.max(...waits)).toBeLessThan(SLACK_LIMIT_MS);
  expect(waits.toSorted((one, other) => one - other)[10]).toBeLessThan(500);
  await fixture.service.end("SIGTERM");
  await silent.stop();
  await fixture.start();
  await Promise.all(threads.map((thread) => thread.untilAnswers(1)));
});
