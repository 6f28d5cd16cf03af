import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LogCursors } from "../../../src/api/events/log-cursor.ts";
import type { RunId, TeamId } from "../../../src/core/basics/ids.ts";
import { CHANNELS } from "../../../src/core/ports/pubsub.ts";
import { EVENT_LOG_START, type EventLogPosition } from "../../../src/core/ports/stores/event-log.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, SECRET, startHarness } from "./api-harness.ts";
import { openAll, openAt } from "./event-reader.ts";

const EVENTS = "/api/v1/agent/events";
const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
/** Another process on the same database, which receives no notifications of the first. */
let replica: ApiHarness;

beforeAll(async () => {
  harness = await startHarness();
  replica = await startHarness({ sharedWith: harness });
});

afterAll(async () => {
  await replica.close();
  await harness.close();
});

describe("the stream of all runs", () => {
  test("the stream sends the events of every run from now on, each once and in order", async () => {
    const before = await createRun(harness);
    await settled(before);
    const reader = await openAll(harness);

    const runs = [await createRun(harness), await createRun(harness)];
    await say(harness, runs[0] ?? "");
    await reader.until(3);

    expect(reader.events.map(({ data }) => [data.run_id, data.seq])).toEqual([
      [runs[0], 1],
      [runs[1], 1],
      [runs[0], 2],
    ]);
    expect(reader.events.map(({ cursor, data }) => cursor === data.cursor)).toEqual([true, true, true]);
    reader.leave();
  });

  test("a stream that breaks before its first event is resumed from the position with which it began", async () => {
    const response = await openAt(harness, EVENTS);
    const [opening] = await once(response.setEncoding("utf8"), "data");
    response.destroy();
    const between = await createRun(harness);

    const [, position = ""] = /^id: (\S+)$/m.exec(opening) ?? [];
    const reader = await openAll(harness, { headers: { "last-event-id": position } });
    await reader.until(1);

    expect(reader.events[0]?.data).toMatchObject({ run_id: between, seq: 1 });
    reader.leave();
  });

  test("the stream resumes in another process after the last seen event, without losses or duplicates", async () => {
    const runs = [await createRun(harness), await createRun(harness)];
    await settled(runs[1] ?? "");
    const first = await openAll(harness, { query: "?after=start" });
    await waitFor(() => first.events.some(({ data }) => data.run_id === runs[1]), { what: "the second run" });
    const seen = first.events.slice(0, -1);
    first.leave();

    const second = await openAll(replica, { headers: { "last-event-id": seen.at(-1)?.cursor ?? "" } });
    const later = await createRun(harness);
    await waitFor(() => second.events.some(({ data }) => data.run_id === later), { what: "the later run" });

    const eventNames = [...seen, ...second.events].map(({ data }) => `${data.run_id} ${data.seq}`);
    expect(new Set(eventNames).size).toBe(eventNames.length);
    expect(eventNames).toEqual(await wholeLog());
    second.leave();
  });

  test("a stream that reconnects often while many runs are written has no losses or duplicates", async () => {
    const eventNames: string[] = [];
    let cursor = (await page()).body.next_after;
    const writing = Promise.all(Array.from({ length: 4 }, () => createMany(8)));

    while (eventNames.length < 4 * 8 * 2) {
      const reader = await openAll(eventNames.length % 2 === 0 ? harness : replica, {
        headers: { "last-event-id": cursor },
      });
      await reader.until(1);
      reader.leave();
      eventNames.push(...reader.events.map(({ data }) => `${data.run_id} ${data.seq}`));
      cursor = reader.events.at(-1)?.cursor ?? cursor;
    }
    await writing;

    expect(new Set(eventNames).size).toBe(eventNames.length);
    expect((await wholeLog()).slice(-eventNames.length)).toEqual(eventNames);
  });

  test("the stream sends an event of a slow transaction, as soon as it is committed, before later ones", async () => {
    const [slow, fast] = [await createRun(harness), await createRun(harness)];
    await settled(fast);
    const reader = await openAll(harness);
    const client = new Client({ connectionString: harness.databaseUrl });
    await client.connect();
    await client.query("BEGIN");
    await client.query(
      `INSERT INTO run_events (run_id, seq, turn, kind, body) VALUES ($1, 2, 0, 'workspace.ready', '{"kind":"workspace.ready","restored":false}')`,
      [slow],
    );

    await say(harness, fast);
    const early = reader.events.length;
    await client.query("UPDATE runs SET last_seq = 2 WHERE id = $1", [slow]);
    await client.query("COMMIT");
    await client.end();
    await reader.until(2);

    expect(early).toBe(0);
    expect(reader.events.map(({ data }) => data.run_id)).toEqual([slow, fast]);
    reader.leave();
  });

  test("the stream hides runs of other teams and private runs of colleagues", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
    const [stranger, colleague] = [await harness.addUser("eve", { teamId }), await harness.addUser("ann")];
    const readers = await Promise.all([stranger, colleague].map((key) => openAll(harness, { key })));

    const own = await createRun(harness, { team: false });
    const shared = await createRun(harness);
    const theirs = await createRun(harness, {}, stranger);
    const last = { shared: await createRun(harness), theirs: await createRun(harness, {}, stranger) };
    await Promise.all(readers.map((reader) => reader.until(2)));

    const seen = readers.map(({ events }) => events.map(({ data }) => data.run_id));
    expect(seen).toEqual([
      [theirs, last.theirs],
      [shared, last.shared],
    ]);
    expect(seen.flat()).not.toContain(own);
    for (const reader of readers) {
      reader.leave();
    }
  });

  test("the stream leaves no subscription behind when its reader disconnects", async () => {
    const isQuiet = () => harness.pubsub.countOf(CHANNELS.log) === 0;
    await waitFor(isQuiet, { what: "the readers of other tests to be gone" });
    const reader = await openAll(harness, { query: "?after=start" });
    await reader.until(1);
    expect(harness.pubsub.countOf(CHANNELS.log)).toBe(1);

    reader.leave();

    await waitFor(isQuiet, { what: "the listener to be gone" });
  });

  test("the stream starts again and says so if its start position is unknown", async () => {
    const runId = randomUUID() as RunId;
    const headers = { "last-event-id": cursors().encode({ position: 999_999_999_999n, runId, seq: 1 }) };

    const readers = await Promise.all([
      openAll(harness, { headers }),
      openAll(harness, { headers: { "last-event-id": "nonsense" } }),
    ]);
    await Promise.all(readers.map((reader) => reader.until(1)));
    const run = await createRun(harness);
    await Promise.all(readers.map((reader) => reader.until(2)));

    for (const { events } of readers) {
      expect(events.map(({ kind }) => kind)).toEqual(["reset", "run.created"]);
      expect(events[1]?.data.run_id).toBe(run);
    }
    for (const reader of readers) {
      reader.leave();
    }
  });
});

describe("a page of the log of all runs", () => {
  test("the first page starts now or at the beginning, and the next page follows it", async () => {
    const { body: now } = await page();
    const run = await createRun(harness);
    await settled(run);

    const next = await page(`?after=${now.next_after}`);
    const first = await page("?after=start&limit=1");

    expect(now.events).toEqual([]);
    expect(next.body.events.map((event: { run_id: string }) => event.run_id)).toEqual([run]);
    expect([first.body.events.length, first.body.has_more]).toEqual([1, true]);
  });

  test("a page after an invalid, foreign or changed cursor is refused", async () => {
    const { next_after: cursor } = (await page()).body;
    const foreign = harness.secrets.seal(plainCursor(EVENT_LOG_START), "another owner");
    const numbers = ["1.2.3", "1.00000000-0000-0000-0000-000000000000.9999999999"];
    const plain = numbers.map((text) => Buffer.from(text).toString("base64url"));
    const invalid = ["nonsense", "v1.0.x", foreign, changed(cursor), ...plain];

    const answers = await Promise.all(invalid.map((after) => page(`?after=${encodeURIComponent(after)}`)));

    for (const { status, body } of answers) {
      expect([status, body.code, body.issues[0].path]).toEqual([400, "invalid_request", "after"]);
    }
  });

  test("neither a cursor at an event that the caller may not see nor a made-up one tells its run", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: "Curious", createdAt: new Date(), sharing: "off" });
    const stranger = await harness.addUser("mallory", { teamId });
    const secret = await createRun(harness, { team: false });
    await settled(secret);

    const { body } = await page("?after=start&limit=500", stranger);
    const [last] = (await harness.storage.eventLog.read(EVENT_LOG_START, 500)).events.slice(-1);
    const before = plainCursor({ ...(last?.position ?? EVENT_LOG_START), seq: 0 });
    const signed = cursors().encode(EVENT_LOG_START).split("~")[1];
    const madeUp = [before, `${before}~`, `${before}~${signed}`];
    const refused = await Promise.all(madeUp.map((after) => page(`?after=${after}&limit=1`, stranger)));
    const again = await page(`?after=${body.next_after}`, stranger);

    expect([body.events, again.body.events, again.body.has_more]).toEqual([[], [], false]);
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    for (const part of body.next_after.split(".")) {
      expect(Buffer.from(part, "base64url").toString("latin1")).not.toContain(secret);
    }
  });
});

function cursors(): LogCursors {
  return new LogCursors({ secrets: harness.secrets, sessionSecret: SECRET });
}

/** A cursor that a caller makes up. */
function plainCursor({ position, runId, seq }: EventLogPosition): string {
  return Buffer.from(`${position}.${runId}.${seq}`).toString("base64url");
}

function page(query = "", key = harness.key): Promise<Answer> {
  return call(harness, `${EVENTS}${query}`, { key, headers: { accept: "application/json" } });
}

/** Changes one character in the middle. */
function changed(cursor: string): string {
  const middle = cursor.length / 2;
  return `${cursor.slice(0, middle)}${cursor.charAt(middle) === "A" ? "B" : "A"}${cursor.slice(middle + 1)}`;
}

async function createRun(on: ApiHarness, more: object = {}, key = on.key): Promise<string> {
  const { body } = await call(on, RUNS, { key, body: { prompt: "x", ...more } });
  return body.run_id;
}

async function createMany(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await say(harness, await createRun(harness));
  }
}

async function say(on: ApiHarness, runId: string): Promise<void> {
  await on.edit(runId, (edit) => edit.record({ kind: "workspace.ready", restored: false }));
}

async function wholeLog(): Promise<string[]> {
  const { body } = await page("?after=start&limit=500");
  return body.events.map((event: { run_id: string; seq: number }) => `${event.run_id} ${event.seq}`);
}

/**
 * Waits until the run's events are in the log, because transactions of other tests on the server can hold the log
 * back.
 */
async function settled(runId: string): Promise<void> {
  const isThere = async () => (await wholeLog()).some((name) => name.startsWith(runId));
  await waitFor(isThere, { what: "the run's event in the log" });
}
