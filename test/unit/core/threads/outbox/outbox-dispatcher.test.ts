import { beforeEach, describe, expect, test } from "vitest";
import { AppError, Misconfigured } from "../../../../../src/core/basics/errors.ts";
import type { Notice } from "../../../../../src/core/model/threads/notice.ts";
import type { ThreadBinding } from "../../../../../src/core/model/threads/thread.ts";
import { deadNoticesCheck, waitingNoticesCheck } from "../../../../../src/core/upkeep/checks.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aCard, anInboxEvent, aReply, aRun, aThread } from "../../../../support/run-builders.ts";

const BUSY = new AppError("resource_unavailable", "Busy.");
const NEVER = new AppError("not_authorized", "Thrown out of the channel.");

let harness: CoreHarness;
let thread: ThreadBinding["thread"];
beforeEach(() => {
  harness = new CoreHarness();
  thread = aThread();
});

describe("the outbox dispatcher", () => {
  test("the dispatcher posts notices in order", async () => {
    await say(aReply("one"), aReply("two"), aReply("three"));

    await harness.start();

    expect(shown()).toEqual([aReply("one"), aReply("two"), aReply("three")]);
  });

  test("the dispatcher retries a temporary failure, with later notices after it", async () => {
    harness.adapter.deliverFaults.push({ error: BUSY }, { error: BUSY });
    await say(aReply("one"), aReply("two"));
    await harness.start();
    expect(shown()).toEqual([]);

    await harness.clock.advance(999);
    expect(harness.adapter.deliverFaults).toHaveLength(1);
    await harness.clock.advance(3_000);

    expect(shown()).toEqual([aReply("one"), aReply("two")]);
  });

  test("the doctor says which messages wait for a rate limit, and until when", async () => {
    const hour = { name: "hour", counts: ["post"], per: "installation", everyMs: 60_000, burst: 1 } as const;
    harness.adapter.traits = { ...harness.adapter.traits, pace: [hour] };
    const check = waitingNoticesCheck(harness.storage);
    expect((await check.run()).status).toBe("ok");
    await say(aReply("one"), aReply("two"));
    await harness.start();

    const until = new Date(harness.clock.now().getTime() + 60_000).toISOString();
    expect(await check.run()).toMatchObject({
      status: "warn",
      message: expect.stringContaining(`1 × ${thread.adapter}, the last one until ${until}`),
    });
    await harness.clock.advance(60_000);
    expect((await check.run()).status).toBe("ok");
  });

  test("what the adapter leaves out is neither shown nor given up", async () => {
    harness.adapter.leftOut.add("card");
    await say(aReply("one"), aCard(aRun()), aReply("two"));
    await harness.start();

    expect(shown()).toEqual([aReply("one"), aReply("two")]);
    expect((await deadNoticesCheck(harness.storage).run()).status).toBe("ok");
  });

  test("the dispatcher waits as long as the platform asks", async () => {
    harness.adapter.deliverFaults.push({
      error: new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 30_000 }),
    });
    await say(aReply("one"));
    await harness.start();

    await harness.clock.advance(29_900);
    expect(shown()).toEqual([]);
    await harness.clock.advance(200);

    expect(shown()).toEqual([aReply("one")]);
  });

  test("the dispatcher marks an installation that refuses the token, until it takes a notice again", async () => {
    const { adapter, installation } = thread;
    await harness.storage.installations.ensure(adapter, installation);
    harness.adapter.deliverFaults.push({
      error: new Misconfigured("external_authentication_required", "The token is bad."),
    });
    const problem = async () => (await harness.storage.installations.ensure(adapter, installation)).problem;
    await say(aReply("one"));
    await harness.start();
    expect(await problem()).toBe("The token is bad.");

    await harness.clock.advance(3_000);

    expect(shown()).toEqual([aReply("one")]);
    expect(await problem()).toBeUndefined();
  });

  test("the dispatcher keeps the order while it waits, and other threads continue", async () => {
    const other = aThread();
    const busy = new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 30_000 });
    harness.adapter.deliverFaults.push({ error: busy });
    await say(aReply("one"), aReply("two"));
    await harness.start();
    await sayIn(other, aReply("elsewhere"));
    await sayIn(thread, aReply("three"));

    await harness.clock.advance(29_900);
    expect(shown()).toEqual([]);
    expect(harness.adapter.thread(other.key)).toHaveLength(1);
    await harness.clock.advance(200);

    expect(shown()).toEqual([aReply("one"), aReply("two"), aReply("three")]);
  });

  test("the dispatcher waits longer after each failure", async () => {
    harness.adapter.deliverFaults.push(...Array.from({ length: 5 }, () => ({ error: BUSY })));
    await say(aReply("one"));
    await harness.start();

    await harness.clock.advance(30_900);
    expect(shown()).toEqual([]);
    await harness.clock.advance(200);

    expect(shown()).toEqual([aReply("one")]);
  });

  test("the dispatcher gives up a notice that cannot be posted and continues", async () => {
    harness.adapter.deliverFaults.push({ error: NEVER });
    await say(aReply("one"), aReply("two"));

    await harness.start();

    expect(shown()).toEqual([aReply("two")]);
    expect(harness.logged.map(({ message }) => message)).toContain("delivery.dead");
  });

  test("a notice of a run that is given up is an event and a warning of the run", async () => {
    await harness.start();
    const intake = { dedupeKey: "d", inboxId: "", disposition: "run_created" } as const;
    const event = anInboxEvent();
    await harness.storage.inbox.put(event);
    const creator = await harness.person();
    harness.adapter.deliverFaults.push({ error: NEVER });
    const run = await harness.runs.create(
      { prompt: "Fix it", source: "API", creator },
      { inboxResult: { ...intake, inboxId: event.id }, binding: { thread, expected: undefined } },
    );
    await harness.clock.advance(1_000);

    const [dead] = (await harness.events(run.id)).filter(({ body }) => body.kind === "notice.dead");
    expect(dead?.body).toMatchObject({
      ...{ adapter: "memory", threadId: thread.id, reason: "Thrown out of the channel." },
      noticeId: expect.any(String),
    });
    expect(await harness.run(run.id)).toMatchObject({
      state: "SUCCEEDED",
      warnings: ["A message to a thread (memory) could not be posted: Thrown out of the channel."],
    });
    expect(await deadNoticesCheck(harness.storage).run()).toMatchObject({
      status: "warn",
      message: expect.stringContaining("1 × memory: Thrown out of the channel."),
    });
  });

  test("the dispatcher gives up a notice after about a day", async () => {
    harness.adapter.deliverFaults.push(...Array.from({ length: 40 }, () => ({ error: BUSY })));
    await say(aReply("one"), aReply("two"));
    await harness.start();

    await harness.clock.advance(40 * 3_600_000);

    expect(shown()).toEqual([aReply("two")]);
  });

  test("the dispatcher posts nothing twice when a response is lost", async () => {
    harness.adapter.deliverFaults.push({ error: BUSY, shown: true });
    await say(aReply("one"), aReply("two"));
    await harness.start();

    await harness.clock.advance(2_000);

    expect(shown()).toEqual([aReply("one"), aReply("two")]);
  });

  test("the dispatcher posts nothing twice when the receipt cannot be stored", async () => {
    await say(aReply("one"), aReply("two"));
    const outbox = harness.storage.outbox;
    const delivery = await outbox.take(thread.id);
    if (delivery !== undefined) {
      await harness.adapter.deliver(delivery);
    }

    await harness.start();

    expect(shown()).toEqual([aReply("one"), aReply("two")]);
  });

  test("the dispatcher edits the one card of a run and posts only the newest state", async () => {
    const run = aRun();
    await say(aCard(run, { state: "QUEUED" }));
    await harness.start();
    await say(aCard(run, { state: "PENDING" }), aReply("between"), aCard(run, { state: "INPROGRESS" }));
    await quiet();

    expect(shown()).toEqual([aCard(run, { state: "INPROGRESS" }), aReply("between")]);
  });

  test("the dispatcher edits a card that an earlier dispatcher may have posted", async () => {
    const run = aRun();
    harness.adapter.deliverFaults.push({ error: NEVER, shown: true });
    await say(aCard(run, { state: "QUEUED" }));
    await harness.start();
    await say(aCard(run, { state: "SUCCEEDED" }));
    await quiet();

    expect(shown()).toEqual([aCard(run, { state: "SUCCEEDED" })]);
  });

  test("the dispatcher leaves notices of a disabled adapter for another worker", async () => {
    thread = aThread({ adapter: "gone" });
    await say(aReply("one"));

    await harness.start();

    expect(harness.logged.map(({ message }) => message)).toContain("delivery.retried");
  });
});

function say(...notices: readonly Notice[]): Promise<void> {
  return sayIn(thread, ...notices);
}

async function sayIn(there: ThreadBinding["thread"], ...notices: readonly Notice[]): Promise<void> {
  const event = anInboxEvent();
  await harness.storage.inbox.put(event);
  await harness.storage.inbox.complete(
    { inboxId: event.id, disposition: "replied" },
    { thread: there, notices },
  );
  await quiet();
}

function shown(): readonly Notice[] {
  return harness.adapter.thread(thread.key).map(({ notice }) => notice);
}
