import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIXED_LIMITS } from "../../../src/api/api-deps.ts";
import type { RunId } from "../../../src/core/ids.ts";
import { PostgresPubSub } from "../../../src/pubsub/postgres-pubsub.ts";
import { withSession } from "../../../src/storage/session.ts";
import { findLeakedCanaries } from "../../support/invariants-canaries.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { type EventReader, openStream, type StreamOptions } from "./event-reader.ts";

const RUNS = "/api/v1/agent/runs";
const KEYS = "/api/v1/agent/keys";
const WHOAMI = "/api/v1/agent/whoami";
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
const LIMITS = { heartbeatMs: 20 };

/** Two processes on one database that hear of each other over it, and a third to which no news comes. */
let here: ApiHarness;
let there: ApiHarness;
let deaf: ApiHarness;
const opened: PostgresPubSub[] = [];

beforeAll(async () => {
  here = await startHarness({ limits: LIMITS, pubsub: openNews });
  there = await startHarness({ beside: here, limits: LIMITS, pubsub: openNews });
  deaf = await startHarness({ beside: here, limits: LIMITS });
});
afterAll(async () => {
  await deaf.close();
  await there.close();
  for (const pubsub of opened) await pubsub.stop();
  await here.close();
});

async function openNews(url: string): Promise<PostgresPubSub> {
  const pubsub = new PostgresPubSub({ url, log: SILENT_LOG });
  opened.push(pubsub);
  await pubsub.start();
  return pubsub;
}

interface Made {
  readonly id: string;
  readonly key: string;
}

async function aKey(body: object = {}): Promise<Made> {
  return (await call(here, KEYS, { body: { name: "x", scopes: ["runs:write"], ...body } })).body;
}

async function status(harness: ApiHarness, key: string): Promise<number> {
  return (await call(harness, WHOAMI, { key })).status;
}

function revoke({ id }: Made): Promise<unknown> {
  return call(here, `${KEYS}/${id}`, { method: "DELETE" });
}

describe("a revoked key", () => {
  test("is refused at once by the process that was told, however often it was just used", async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await aKey();
      expect(await status(here, made.key)).toBe(200);

      await revoke(made);

      expect([round, await status(here, made.key)]).toEqual([round, 401]);
    }
  });

  test("is refused by another process as soon as news of it comes", async () => {
    const made = await aKey();
    expect(await status(there, made.key)).toBe(200);

    await revoke(made);

    // Sooner than it would have looked by itself.
    const limits = { what: "a 401", everyMs: 1, timeoutMs: 4_000 };
    await waitFor(async () => (await status(there, made.key)) === 401, limits);
  });

  test("is refused by a process that the news does not reach after five seconds at the latest", async () => {
    const made = await aKey();
    expect(await status(deaf, made.key)).toBe(200);
    await revoke(made);
    const kept = await status(deaf, made.key);

    deaf.clock.aheadMs += 5_000;

    expect([kept, await status(deaf, made.key)]).toEqual([200, 401]);
  });

  test("of a disabled principal is refused alike", async () => {
    const body = { type: "service_account", display_name: "CI" };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const made = await aKey({ principal_uid: uid });
    const statuses = [await status(here, made.key), await status(there, made.key)];

    await call(here, `/api/v1/agent/principals/${uid}`, { method: "DELETE" });

    expect([...statuses, await status(here, made.key)]).toEqual([200, 200, 401]);
    await waitFor(async () => (await status(there, made.key)) === 401, { what: "a 401", everyMs: 1 });
  });
});

describe("a stream ends with what opened it", () => {
  async function watch(harness: ApiHarness, runId: string, key: string): Promise<EventReader> {
    const stream = await openStream(harness, runId, { key, query: "?follow=true" });
    await waitFor(() => stream.comments.length >= 2, { what: "two heartbeats" });
    return stream;
  }

  test("when the key is revoked, in each process", async () => {
    const [made, runId] = [await aKey(), await createRun(here)];
    const streams = [
      await watch(here, runId, made.key),
      await watch(there, runId, made.key),
      await watch(deaf, runId, made.key),
    ];

    await revoke(made);
    deaf.clock.aheadMs += 5_000;

    for (const stream of streams) await stream.untilOver();
  });

  test("when its holder may see less than at the beginning", async () => {
    const body = { type: "user", display_name: "Ada", administrator: true };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const { key } = await aKey({ scopes: ["admin"], principal_uid: uid });
    const stream = await watch(here, await createRun(here, { team: false }), key);

    const demoted = { method: "PATCH", body: { administrator: false } };
    await call(here, `/api/v1/agent/principals/${uid}`, demoted);

    await stream.untilOver();
  });

  test("when the run is deleted", async () => {
    const runId = await createRun(here);
    const stream = await watch(here, runId, here.key);

    await deleteRun(runId);

    await stream.untilOver();
    const gone = await call(here, `${RUNS}/${runId}/events`);
    const never = await call(here, `${RUNS}/${crypto.randomUUID()}/events`);
    expect([gone.status, gone.body.error]).toEqual([404, never.body.error]);
  });

  test("within a minute, with the times that are set where nobody set others", () => {
    // It may come just before the end, and once more while the key is still kept in mind.
    expect(3 * FIXED_LIMITS.heartbeatMs).toBeLessThan(60_000);
  });
});

describe("a stream ends at once, without waiting for its next sign of life,", () => {
  let near: ApiHarness;
  let far: ApiHarness;
  beforeAll(async () => {
    const calm = { limits: { heartbeatMs: 3_600_000 }, pubsub: openNews };
    near = await startHarness({ beside: here, ...calm });
    far = await startHarness({ beside: here, ...calm });
  });
  afterAll(async () => {
    await far.close();
    await near.close();
  });

  async function watch(options: StreamOptions, runId: string): Promise<EventReader[]> {
    const query = "?follow=true";
    return [
      await openStream(near, runId, { query, ...options }),
      await openStream(far, runId, { query, ...options }),
    ];
  }

  async function untilOver(streams: readonly EventReader[]): Promise<void> {
    for (const stream of streams) await stream.untilOver();
  }

  test("when its key is revoked, and no other stream does", async () => {
    const [made, kept, runId] = [await aKey(), await aKey(), await createRun(here)];
    const streams = await watch({ key: made.key }, runId);
    const others = await watch({ key: kept.key }, runId);

    await revoke(made);

    await untilOver(streams);
    expect(others.map(({ isOver }) => isOver)).toEqual([false, false]);
    for (const other of others) other.leave();
  });

  test("when its holder is disabled", async () => {
    const body = { type: "service_account", display_name: "Watcher" };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const { key } = await aKey({ principal_uid: uid });
    const streams = await watch({ key }, await createRun(here));

    await call(here, `/api/v1/agent/principals/${uid}`, { method: "DELETE" });

    await untilOver(streams);
  });

  test("when the share link by which it was opened is deleted", async () => {
    const runId = await createRun(here);
    const { id, url } = (await call(here, `${RUNS}/${runId}/share-links`, { body: {} })).body;
    const { pathname, search } = new URL(url);
    const entered = await call(here, `${pathname}${search}`, { key: null });
    const [cookie = ""] = entered.headers.getSetCookie().filter((line) => line.includes(runId));
    const streams = await watch({ key: null, headers: { cookie: cookie.split(";")[0] ?? "" } }, runId);

    await call(here, `${RUNS}/${runId}/share-links/${id}`, { method: "DELETE" });

    await untilOver(streams);
  });
});

describe("two identical requests at the same instant, to two processes,", () => {
  const ROUNDS = 10;

  async function both(path: string, body: object, key: string): Promise<[Answer, Answer]> {
    const ask = (harness: ApiHarness) => call(harness, path, { body, headers: { "idempotency-key": key } });
    return Promise.all([ask(here), ask(there)]);
  }

  test("make one run", async () => {
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two] = await both(RUNS, { prompt: "once", title: `round ${round}` }, `run ${round}`);

      expect([one.status, two.status]).toEqual([200, 200]);
      expect(one.body).toEqual(two.body);
      ids.push(one.body.run_id);
    }

    const { rows } = await query("SELECT id FROM runs WHERE title LIKE 'round %'");
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("make one key, and both are told it", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two] = await both(KEYS, { name: `pair ${round}` }, `key ${round}`);

      expect([one.status, two.status, one.body.key]).toEqual([201, 201, two.body.key]);
    }

    expect((await query("SELECT id FROM api_keys WHERE name LIKE 'pair %'")).rows).toHaveLength(ROUNDS);
  });
});

test("a key stands nowhere: in no table, no log line and no refusal", async () => {
  const headers = { "idempotency-key": "canary" };
  const made = await call(here, KEYS, { body: { name: "canary" }, headers });
  const { id, key } = made.body;
  const token = await aShareToken();
  const cookie = (await call(here, "/signin", { body: { key }, key: null })).headers.get("set-cookie") ?? "";

  const answers = [
    await call(here, KEYS),
    await call(here, `${KEYS}/${id}`),
    await call(here, `${RUNS}?q=${key}&cursor=${key}`),
    await call(here, `${RUNS}/${key}`),
    await call(here, `/sessions/${key}?share=${token}`),
    await call(here, RUNS, { body: { title: 7, [key]: key } }),
    await call(here, RUNS, { body: `{"prompt": ${key}}` }),
    await call(here, RUNS, { key: `${key}x` }),
    await call(here, KEYS, { body: { name: key, scopes: [key] }, headers: { "idempotency-key": key } }),
    await call(here, "/signin", { body: { key: `${key}x` }, key: null }),
    await call(here, `/${key}`),
    await call(here, RUNS, { headers: { "x-request-id": "a b", authorization: `Basic ${key}` }, key: null }),
  ];

  const said = answers.map(({ text }) => text);
  const leaks = await withSession(here.databaseUrl, SESSION, (client) =>
    findLeakedCanaries(client, [key, token], [...said, cookie, ...here.logged, ...there.logged]),
  );
  expect(leaks).toEqual([]);
  expect((await call(here, KEYS, { body: { name: "canary" }, headers })).body.key).toBe(key);
});

async function aShareToken(): Promise<string> {
  const path = `${RUNS}/${await createRun(here)}/share-links`;
  const { url } = (await call(here, path, { body: {} })).body;
  return url.split("?share=")[1];
}

function query(sql: string) {
  return withSession(here.databaseUrl, SESSION, (client) => client.query<{ readonly id: string }>(sql));
}

async function deleteRun(runId: string): Promise<void> {
  const id = runId as RunId;
  await withSession(here.databaseUrl, SESSION, async (client) => {
    await client.query("DELETE FROM run_events WHERE run_id = $1", [id]);
    await client.query("DELETE FROM runs WHERE id = $1", [id]);
  });
}
