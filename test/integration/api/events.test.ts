import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import {
  ALL_EVENTS,
  EventReader,
  eventsOf,
  openAll,
  openAt,
  openRaw,
  openStream,
  type StreamOptions,
} from "./event-reader.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const MEGABYTE = "x".repeat(2 ** 20);
/** The server sends short events together in chunks of this size. */
const PIECE_BYTES = 64 * 1024;
/** The bytes of an event besides its text. */
const FRAME_BYTES = 1_024;

let harness: ApiHarness;
beforeAll(async () => {
  // The server polls so slowly that only a notification can be in time.
  harness = await startHarness({ limits: { pollMs: 60_000 } });
});
afterAll(() => harness.close());

async function say(on: ApiHarness, id: string, ...texts: string[]): Promise<void> {
  await on.edit(id, (edit) => {
    for (const text of texts) {
      edit.record({ kind: "agent.message", text });
    }
  });
}

async function end(on: ApiHarness, id: string): Promise<void> {
  await on.edit(id, (edit) => edit.moveTo("PENDING"));
  await on.edit(id, (edit) => edit.moveTo("SUCCEEDED"));
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe("the stream of a run", () => {
  test("the stream of a run sends past and new events, each once, and ends with the run", async () => {
    const id = await createRun(harness);
    await say(harness, id, "a", "b\nc");

    const stream = await openStream(harness, id);
    await stream.until(3);
    await say(harness, id, "d");
    await stream.until(4);
    await end(harness, id);
    await stream.untilOver();

    expect(stream.ids).toEqual(upTo(6));
    expect(stream.response.headers["content-type"]).toMatch(/^text\/event-stream/);
    expect(stream.response.headers["cache-control"]).toBe("no-store, no-transform");
    expect(stream.response.headers["x-request-id"]).toBeTruthy();
    expect(stream.events[2]).toMatchObject({
      kind: "agent.message",
      data: { seq: 3, turn: 0, at: expect.stringMatching(/Z$/), kind: "agent.message", text: "b\nc" },
    });
    expect(stream.events.at(-1)?.data).toMatchObject({ kind: "run.state", to: "SUCCEEDED" });
  });

  test("the stream resumes after Last-Event-ID, which overrides `after`, without losses or duplicates", async () => {
    const id = await createRun(harness);
    await say(harness, id, ...upTo(450).map(String));
    await end(harness, id);

    const whole = await openStream(harness, id);
    const byHeader = await openStream(harness, id, {
      query: "?after=1",
      headers: { "last-event-id": "203" },
    });
    const byQuery = await openStream(harness, id, { query: "?after=203" });
    const atTheEnd = await openStream(harness, id, { query: "?after=453" });
    await Promise.all([whole, byHeader, byQuery, atTheEnd].map((stream) => stream.untilOver()));

    expect(whole.ids).toEqual(upTo(453));
    expect(byHeader.ids).toEqual(upTo(453, 204));
    expect(byQuery.ids).toEqual(upTo(453, 204));
    expect([atTheEnd.response.statusCode, atTheEnd.ids]).toEqual([200, []]);
  });

  test.each(["x", "99"])(
    "the stream starts again and says so after an event %s that the run does not have",
    async (seen) => {
      const id = await createRun(harness);
      await say(harness, id, "a");

      const stream = await openStream(harness, id, { headers: { "last-event-id": seen } });
      await stream.until(3);
      stream.leave();

      expect(stream.ids).toEqual([0, 1, 2]);
      expect(stream.events[0]?.kind).toBe("reset");
    },
  );

  test("a stream that reconnects often under load has no losses or duplicates", async () => {
    const id = await createRun(harness);
    const seen: number[] = [];
    const writing = (async () => {
      for (const text of upTo(60).map(String)) {
        await say(harness, id, text);
      }
      await end(harness, id);
    })();

    while (seen.at(-1) !== 63) {
      const stream = await openStream(harness, id, {
        headers: { "last-event-id": String(seen.at(-1) ?? 0) },
      });
      await waitFor(() => stream.isOver || stream.events.length >= 7, { what: "some events" });
      stream.leave();
      seen.push(...stream.ids);
    }
    await writing;

    expect(seen).toEqual(upTo(63));
  });

  test("a stream with follow=true stays open after the end of the run and shows when it is resumed", async () => {
    const id = await createRun(harness);
    await end(harness, id);

    const stream = await openStream(harness, id, { query: "?follow=true" });
    await stream.until(3);
    await call(harness, `/api/v1/agent/runs/${id}/followups`, { body: { message: "more" } });
    await stream.until(5);
    stream.leave();

    expect(stream.events.slice(3).map(({ kind }) => kind)).toEqual(["followup.received", "run.state"]);
  });

  test("the stream of a run leaves no subscription behind when its reader disconnects", async () => {
    const id = await createRun(harness);
    const stream = await openStream(harness, id);
    await stream.until(1);
    expect(harness.pubsub.listenerCount).toBe(1);

    stream.leave();

    await waitFor(() => harness.pubsub.listenerCount === 0, { what: "the listener to be gone" });
  });

  test.each([
    ["?after=x", {}],
    ["?after=-1", {}],
    ["?after=99", {}],
    ["?follow=maybe", {}],
  ])("the stream parameter %s %o is invalid", async (query, headers) => {
    const id = await createRun(harness);

    const answer = await call(harness, `/api/v1/agent/runs/${id}/events${query}`, { headers });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  });

  test("the stream of an unknown run or of a colleague's private run is not found", async () => {
    const [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
    const id = await createRun(harness, { team: false }, { key: ann });
    const statusOf = async (run: string) =>
      (await call(harness, `/api/v1/agent/runs/${run}/events`, { key: ben })).status;

    expect([await statusOf(id), await statusOf("x")]).toEqual([404, 404]);
  });
});

describe("a page of events", () => {
  test("events are returned as a page if JSON is requested, and the next page follows it", async () => {
    const id = await createRun(harness);
    await say(harness, id, "a", "b");
    const page = async (query: string) =>
      (
        await call(harness, `/api/v1/agent/runs/${id}/events${query}`, {
          headers: { accept: "application/json" },
        })
      ).body;

    const [first, second, third] = [
      await page("?limit=2"),
      await page("?limit=2&after=2"),
      await page("?after=3"),
    ];

    expect(first.events.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2]);
    expect(first.events[1]).toMatchObject({ kind: "agent.message", text: "a", turn: 0 });
    expect([first.next_after, second.next_after, third.next_after]).toEqual([2, 3, 3]);
    expect([second.events.length, third.events]).toEqual([1, []]);
  });

  test.each(["limit=0", "limit=501", "limit=x", "after=9"])(
    "a page of events with %s is invalid",
    async (query) => {
      const id = await createRun(harness);
      const headers = { accept: "application/json" };

      expect((await call(harness, `/api/v1/agent/runs/${id}/events?${query}`, { headers })).status).toBe(400);
    },
  );
});

describe("a stream under adverse conditions", () => {
  test("a stream sees events by polling when no notification arrives", async () => {
    await using deaf = await disposable({ pollMs: 20 });
    deaf.harness.pubsub.isSilent = true;
    const id = await createRun(deaf.harness);
    const stream = await openStream(deaf.harness, id);
    await stream.until(1);

    await say(deaf.harness, id, "a");
    await stream.until(2);
    await end(deaf.harness, id);
    await stream.untilOver();

    expect(stream.ids).toEqual(upTo(4));
  });

  test("one slow reader is disconnected while 999 others of the same run receive every event", async () => {
    const limits = { streamBufferBytes: 64 * 1024, streamStallMs: 300, streamsPerPrincipal: 0 };
    await using crowded = await disposable(limits);
    const id = await createRun(crowded.harness);
    const texts = upTo(40).map(() => "x".repeat(30_000));
    for (const _ of upTo(10)) {
      await say(crowded.harness, id, ...texts);
    }
    const others: EventReader[] = [];
    for (const _ of upTo(9)) {
      others.push(
        ...(await Promise.all(upTo(111).map(() => openStream(crowded.harness, id, { query: "?after=401" })))),
      );
    }
    const held = nextAnswer(crowded.harness);
    const silent = await openRaw(crowded.harness, id);
    silent.pause();
    silent.on("error", () => undefined);

    await say(crowded.harness, id, "while it does not read");
    await Promise.all(others.map((other) => other.until(1)));
    await waitFor(() => crowded.harness.logged.some((line) => line.includes("stream.reader.stalled")), {
      what: "the cut",
    });
    await say(crowded.harness, id, "after");
    await Promise.all(others.map((other) => other.until(2)));

    expect(new Set(others.map(({ ids }) => ids.join()))).toEqual(new Set(["402,403"]));
    expectBounded(held, limits, PIECE_BYTES);
    silent.destroy();
    for (const other of others) {
      other.leave();
    }
  });

  test("a stream ends at once when the server closes", async () => {
    const { harness: closing } = await disposable({ pollMs: 60_000 });
    const id = await createRun(closing);
    const all = openAll(closing, { query: "?after=start" });
    const streams = await Promise.all([openStream(closing, id), openStream(closing, id), all]);
    await Promise.all(streams.map((stream) => stream.until(1)));

    const begun = performance.now();
    await closing.server.close();
    const took = performance.now() - begun;
    await Promise.all(streams.map((stream) => stream.untilOver()));
    await closing.close();

    expect(took).toBeLessThan(30_000);
  });
});

describe.each([
  { of: "a run", pathOf: eventsOf },
  { of: "all runs", pathOf: () => `${ALL_EVENTS}?after=start` },
])("the open stream of $of", ({ pathOf }) => {
  const open = async (on: ApiHarness, id: string, options: StreamOptions = {}) =>
    new EventReader(await openAt(on, pathOf(id), options));

  test("an open stream sends heartbeats and ends soon after its key is revoked", async () => {
    await using quick = await disposable({ heartbeatMs: 20, callerCheckMs: 20 });
    const key = await quick.harness.addUser("ann");
    const id = await createRun(quick.harness, {}, { key });
    const stream = await open(quick.harness, id, { key });
    await waitFor(() => stream.comments.length >= 2, { what: "two heartbeats" });
    expect(stream.isOver).toBe(false);

    await quick.harness.revoke(key);

    await stream.untilOver();
  });

  test("an open stream ends when its key expires, not earlier, and other streams continue", async () => {
    await using quick = await disposable({ heartbeatMs: 20, callerCheckMs: 20 });
    const body = { name: "for a day", scopes: ["runs:read"], expires_in_days: 1 };
    const { key } = (await call(quick.harness, "/api/v1/agent/keys", { body })).body;
    const id = await createRun(quick.harness);
    const [stream, other] = [await open(quick.harness, id, { key }), await open(quick.harness, id)];

    quick.harness.clock.aheadMs = DAY_MS - 60_000;
    const beats = stream.comments.length;
    await waitFor(() => stream.comments.length >= beats + 3, { what: "three more heartbeats" });
    quick.harness.clock.aheadMs = DAY_MS;
    await stream.untilOver();
    await say(quick.harness, id, "after");
    await other.until(2);

    expect(other.isOver).toBe(false);
    expect((await call(quick.harness, pathOf(id), { key })).status).toBe(401);
    other.leave();
  });

  test("a reader that reads nothing is disconnected, with little memory held, and others are not", async () => {
    const limits = { streamBufferBytes: 64 * 1024, streamStallMs: 100, pollMs: 20 };
    await using tight = await disposable(limits);
    const id = await createRun(tight.harness);
    const held = nextAnswer(tight.harness);
    const silent = await openAt(tight.harness, pathOf(id));
    silent.pause();
    silent.on("error", () => undefined);
    const reader = await open(tight.harness, id);

    for (const _ of upTo(12)) {
      await say(tight.harness, id, MEGABYTE);
    }
    await reader.until(13);
    await waitFor(() => tight.harness.logged.some((line) => line.includes("stream.reader.stalled")), {
      what: "the cut",
    });
    await waitFor(() => held.isGone, { what: "the cut stream to be gone" });
    await say(tight.harness, id, "after");
    await reader.until(14);

    expect(reader.events.map(({ data }) => data.seq)).toEqual(upTo(14));
    expectBounded(held, limits, MEGABYTE.length);
    silent.destroy();
    reader.leave();
  });

  test("a caller has a limited number of open streams, and a stream that ends frees its place", async () => {
    await using narrow = await disposable({ streamsPerPrincipal: 2 });
    const other = await narrow.harness.addUser("ann");
    const id = await createRun(narrow.harness);
    const [first] = [await openStream(narrow.harness, id), await open(narrow.harness, id)];

    const refused = await call(narrow.harness, pathOf(id));
    const others = await open(narrow.harness, id, { key: other });
    first.leave();

    expect([refused.status, refused.body.code]).toEqual([429, "resource_unavailable"]);
    expect([refused.headers.get("x-should-retry"), refused.headers.get("retry-after")]).toEqual([
      "true",
      "5",
    ]);
    expect(others.response.statusCode).toBe(200);
    await waitFor(async () => (await openAt(narrow.harness, pathOf(id))).statusCode === 200, {
      what: "room for another",
    });
  });
});

interface Held {
  /** The most bytes that the server held for the reader at any time. */
  mostBytes: number;
  isGone: boolean;
}

/** Measures what the server holds of the answer to the next request. */
function nextAnswer({ server }: ApiHarness): Held {
  const held: Held = { mostBytes: 0, isGone: false };
  server.server.prependOnceListener("request", (_request: IncomingMessage, response: ServerResponse) => {
    const write = response.write.bind(response) as (piece: string | Uint8Array) => boolean;
    response.write = (piece: string | Uint8Array) => {
      const isWelcome = write(piece);
      held.mostBytes = Math.max(held.mostBytes, response.writableLength);
      return isWelcome;
    };
    response.once("close", () => {
      held.isGone = true;
    });
  });
  return held;
}

/** The held bytes may exceed their limit by one chunk: several short events or one long event. */
function expectBounded(
  { mostBytes }: Held,
  { streamBufferBytes }: { readonly streamBufferBytes: number },
  pieceBytes: number,
): void {
  expect(mostBytes).toBeGreaterThan(streamBufferBytes);
  expect(mostBytes).toBeLessThan(streamBufferBytes + pieceBytes + FRAME_BYTES);
}

interface DisposableHarness extends AsyncDisposable {
  readonly harness: ApiHarness;
}

async function disposable(
  limits: NonNullable<Parameters<typeof startHarness>[0]>["limits"] = {},
): Promise<DisposableHarness> {
  const own = await startHarness({ limits });
  return { harness: own, [Symbol.asyncDispose]: () => own.close() };
}

describe("the last events of a run", () => {
  const pageOf = async (id: string, query: string) =>
    call(harness, `/api/v1/agent/runs/${id}/events?${query}`, { headers: { accept: "application/json" } });
  const seqsOf = (body: { events: readonly { seq: number }[] }) => body.events.map(({ seq }) => seq);

  test("a log is read backwards, page by page, and each page is ascending", async () => {
    const id = await createRun(harness);
    await say(harness, id, ...upTo(9).map(String));

    const { body: last } = await pageOf(id, "tail=4");
    const { body: middle } = await pageOf(id, `before=${last.next_before}&limit=4`);
    const { body: first } = await pageOf(id, `before=${middle.next_before}&limit=4`);
    const { body: after } = await pageOf(id, `after=${middle.next_after}`);

    expect([last, middle, first].map(seqsOf)).toEqual([upTo(10, 7), upTo(6, 3), upTo(2)]);
    expect([last.next_after, middle.next_after, first.next_before]).toEqual([10, 6, undefined]);
    expect(seqsOf(after)).toEqual(upTo(10, 7));
  });

  test.each(["after=1&before=2", "after=0&tail=2", "before=2&tail=2", "before=0", "tail=0", "tail=501"])(
    "the query %s is invalid",
    async (query) => {
      const id = await createRun(harness);

      expect((await pageOf(id, query)).status).toBe(400);
    },
  );

  test("a stream begins with the last events that `tail` asks for", async () => {
    const id = await createRun(harness);
    await say(harness, id, "a", "b", "c");
    await end(harness, id);

    const stream = await openStream(harness, id, { query: "?tail=2" });
    await stream.untilOver();

    expect(stream.ids).toEqual([5, 6]);
  });

  test("a stream ends after the event that ends the run, and the log may go on", async () => {
    const id = await createRun(harness);
    const stream = await openStream(harness, id);

    await end(harness, id);
    await stream.untilOver();
    await harness.edit(id, (edit) => edit.record({ kind: "attempt.ended", attempt: 1, reason: "Done." }));

    expect(stream.events.at(-1)?.data).toMatchObject({ kind: "run.state", to: "SUCCEEDED" });
    expect((await pageOf(id, "tail=1")).body.events).toMatchObject([{ kind: "attempt.ended" }]);
  });
});
