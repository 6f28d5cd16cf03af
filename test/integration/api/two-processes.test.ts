import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOOKUP_LIFETIME_MS } from "../../../src/api/auth/credential-caches.ts";
import { FIXED_LIMITS } from "../../../src/api/http/api-limits.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { PostgresPubSub } from "../../../src/storage/postgres-pubsub.ts";
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
const LIMITS = { heartbeatMs: 20, callerCheckMs: 20 };

/** Two processes on one database that notify each other, and a third that receives no notifications. */
let here: ApiHarness;
let there: ApiHarness;
let deaf: ApiHarness;
const opened: PostgresPubSub[] = [];

beforeAll(async () => {
  here = await startHarness({ limits: LIMITS, pubsub: openNews });
  there = await startHarness({ sharedWith: here, limits: LIMITS, pubsub: openNews });
  deaf = await startHarness({ sharedWith: here, limits: LIMITS });
});
afterAll(async () => {
  await deaf.close();
  await there.close();
  for (const pubsub of opened) {
    await pubsub.stop();
  }
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
  test("the process that revokes a key refuses it at once, however recently it was used", async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await aKey();
      expect(await status(here, made.key)).toBe(200);

      await revoke(made);

      expect([round, await status(here, made.key)]).toEqual([round, 401]);
    }
  });

  test("another process refuses a revoked key as soon as it is notified", async () => {
    const made = await aKey();
    expect(await status(there, made.key)).toBe(200);

    await revoke(made);

    // The answer must change before the process would read the key again by itself.
    const limits = { what: "a 401", everyMs: 1, timeoutMs: 4_000 };
    await waitFor(async () => (await status(there, made.key)) === 401, limits);
  });

  test("a process without notifications refuses a revoked key after at most five seconds", async () => {
    const made = await aKey();
    expect(await status(deaf, made.key)).toBe(200);
    await revoke(made);
    const kept = await status(deaf, made.key);

    deaf.clock.aheadMs += 5_000;

    expect([kept, await status(deaf, made.key)]).toEqual([200, 401]);
  });

  test("keys of a disabled principal are refused in the same way", async () => {
    const body = { type: "service_account", display_name: "CI" };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const made = await aKey({ principal_uid: uid });
    const statuses = [await status(here, made.key), await status(there, made.key)];

    await call(here, `/api/v1/agent/principals/${uid}`, { method: "DELETE" });

    expect([...statuses, await status(here, made.key)]).toEqual([200, 200, 401]);
    await waitFor(async () => (await status(there, made.key)) === 401, { what: "a 401", everyMs: 1 });
  });
});

describe("a write with a key that has ended", () => {
  /** Writes of each kind: a new run, a change of a run, and a record. */
  async function writes(key: string): Promise<readonly (() => Promise<Answer>)[]> {
    const id = await createRun(here);
    const headers = { "idempotency-key": crypto.randomUUID() };
    return [
      () => call(deaf, RUNS, { key, body: { prompt: "late" } }),
      () => call(deaf, RUNS, { key, headers, body: { prompt: "late" } }),
      () => call(deaf, `${RUNS}/${id}/followups`, { key, body: { message: "late" } }),
      () => call(deaf, `${RUNS}/${id}/cancel`, { key, method: "POST" }),
      () => call(deaf, "/api/v1/agent/environments", { key, body: { config: { name: "late" } } }),
    ];
  }

  /** How a key ends in another process. */
  const ENDS: readonly [string, (made: Made, uid: string) => Promise<unknown>][] = [
    ["was revoked", revoke],
    ["was revoked with all keys of its principal", (_, uid) => callHere("DELETE", `${uid}/keys`)],
    ["belongs to a disabled principal", (_, uid) => callHere("DELETE", uid)],
    [
      "got an expiry that is over",
      ({ id }) => query(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = '${id}'`),
    ],
  ];

  function callHere(method: string, path: string): Promise<Answer> {
    return call(here, `/api/v1/agent/principals/${path}`, { method });
  }

  test.each(ENDS)(
    "a key that %s writes nothing, even in a process that still reads with it",
    async (_, end) => {
      const body = { type: "service_account", display_name: "CI" };
      const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
      const made = await aKey({ scopes: ["runs:write", "settings:write"], principal_uid: uid });
      const late = await writes(made.key);
      expect(await status(deaf, made.key)).toBe(200);
      const runs = (await query("SELECT id FROM runs")).rows.length;
      await end(made, uid);

      const answers = [];
      for (const write of late) {
        answers.push(await write());
      }

      expect(await status(deaf, made.key)).toBe(200);
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        late.map(() => [401, "authentication_required"]),
      );
      expect((await query("SELECT id FROM runs")).rows).toHaveLength(runs);
      expect((await query("SELECT id FROM environments WHERE config ->> 'name' = 'late'")).rows).toEqual([]);
    },
  );

  test("no run is created after the revocation was answered, however many are being created", async () => {
    const made = await aKey();
    let isRevoked = false;
    const late: number[] = [];
    const creating = Array.from({ length: 8 }, async (_, index) => {
      for (let count = 0; count < 200 && !isRevoked; count += 1) {
        await call([here, there, deaf][index % 3] ?? here, RUNS, { key: made.key, body: { prompt: "race" } });
      }
    });
    await waitFor(async () => (await racing()) > 20, { what: "some runs" });

    await revoke(made);
    late.push(await racing());
    isRevoked = true;
    await Promise.all(creating);
    late.push(await racing());

    expect(late[1]).toBe(late[0]);
  });

  async function racing(): Promise<number> {
    return (await query("SELECT id FROM runs WHERE prompt = 'race'")).rows.length;
  }
});

describe("a stream ends with its credential", () => {
  async function watch(harness: ApiHarness, runId: string, key: string): Promise<EventReader> {
    const stream = await openStream(harness, runId, { key, query: "?follow=true" });
    await waitFor(() => stream.comments.length >= 2, { what: "two heartbeats" });
    return stream;
  }

  test("the streams of a revoked key end in each process", async () => {
    const [made, runId] = [await aKey(), await createRun(here)];
    const streams = [
      await watch(here, runId, made.key),
      await watch(there, runId, made.key),
      await watch(deaf, runId, made.key),
    ];

    await revoke(made);
    deaf.clock.aheadMs += 5_000;

    for (const stream of streams) {
      await stream.untilOver();
    }
  });

  test("a stream ends when the permissions of its holder are reduced", async () => {
    const body = { type: "user", display_name: "Ada", administrator: true };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const { key } = await aKey({ scopes: ["admin"], principal_uid: uid });
    const stream = await watch(here, await createRun(here, { team: false }), key);

    const demoted = { method: "PATCH", body: { administrator: false } };
    await call(here, `/api/v1/agent/principals/${uid}`, demoted);

    await stream.untilOver();
  });

  test("a stream ends when its run is deleted", async () => {
    const runId = await createRun(here);
    const stream = await watch(here, runId, here.key);

    await deleteRun(runId);

    await stream.untilOver();
    const afterDelete = await call(here, `${RUNS}/${runId}/events`);
    const never = await call(here, `${RUNS}/${crypto.randomUUID()}/events`);
    expect([afterDelete.status, afterDelete.body.error]).toEqual([404, never.body.error]);
  });

  test("with the default limits a stream ends within five seconds of its credential", () => {
    // The check may come just before the cached key is forgotten.
    expect(FIXED_LIMITS.callerCheckMs + LOOKUP_LIFETIME_MS).toBeLessThan(5_000);
  });
});

describe("a stream ends at once, before its next heartbeat", () => {
  let near: ApiHarness;
  let far: ApiHarness;
  beforeAll(async () => {
    const calm = { limits: { heartbeatMs: 3_600_000, callerCheckMs: 3_600_000 }, pubsub: openNews };
    near = await startHarness({ sharedWith: here, ...calm });
    far = await startHarness({ sharedWith: here, ...calm });
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
    for (const stream of streams) {
      await stream.untilOver();
    }
  }

  test("a stream ends at once when its key is revoked, and other streams continue", async () => {
    const [made, kept, runId] = [await aKey(), await aKey(), await createRun(here)];
    const streams = await watch({ key: made.key }, runId);
    const others = await watch({ key: kept.key }, runId);

    await revoke(made);

    await untilOver(streams);
    expect(others.map(({ isOver }) => isOver)).toEqual([false, false]);
    for (const other of others) {
      other.leave();
    }
  });

  test("a stream ends at once when its holder is disabled", async () => {
    const body = { type: "service_account", display_name: "Watcher" };
    const { uid } = (await call(here, "/api/v1/agent/principals", { body })).body;
    const { key } = await aKey({ principal_uid: uid });
    const streams = await watch({ key }, await createRun(here));

    await call(here, `/api/v1/agent/principals/${uid}`, { method: "DELETE" });

    await untilOver(streams);
  });

  test("a stream ends at once when its share link is deleted", async () => {
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

describe("two concurrent identical requests to two processes", () => {
  const ROUNDS = 10;

  async function both(path: string, body: object, key: string): Promise<[Answer, Answer]> {
    const ask = (harness: ApiHarness) => call(harness, path, { body, headers: { "idempotency-key": key } });
    return Promise.all([ask(here), ask(there)]);
  }

  test("two concurrent identical requests to two processes create one run", async () => {
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

  test("two concurrent identical requests to two processes create one key and return it to both", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two] = await both(KEYS, { name: `pair ${round}` }, `key ${round}`);

      expect([one.status, two.status, one.body.key]).toEqual([201, 201, two.body.key]);
    }

    expect((await query("SELECT id FROM api_keys WHERE name LIKE 'pair %'")).rows).toHaveLength(ROUNDS);
  });
});

test("a key appears in no table, log line or refusal", async () => {
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

  const texts = answers.map(({ text }) => text);
  const leaks = await withConnection(here.databaseUrl, SESSION, (client) =>
    findLeakedCanaries(client, [key, token], [...texts, cookie, ...here.logged, ...there.logged]),
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
  return withConnection(here.databaseUrl, SESSION, (client) => client.query<{ readonly id: string }>(sql));
}

async function deleteRun(runId: string): Promise<void> {
  const id = runId as RunId;
  await withConnection(here.databaseUrl, SESSION, async (client) => {
    await client.query("DELETE FROM run_events WHERE run_id = $1", [id]);
    await client.query("DELETE FROM runs WHERE id = $1", [id]);
  });
}
