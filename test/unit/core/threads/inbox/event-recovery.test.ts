import { beforeEach, expect, test } from "vitest";
import type { ReceivedEvent } from "../../../../../src/core/ports/thread-adapter.ts";
import { EventRecovery, type LostEvents } from "../../../../../src/core/threads/inbox/event-recovery.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { SILENT_LOG } from "../../../../support/logs.ts";

const MINUTE_MS = 60_000;

let harness: CoreHarness;
/** The cursors with which searches began. */
let searches: (string | undefined)[];
let stepMs: number;

beforeEach(() => {
  harness = new CoreHarness();
  searches = [];
  stepMs = 0;
});

function anEvent(deliveryId: string): ReceivedEvent {
  return { adapter: "memory", orderingKey: deliveryId, deliveryId, name: "message", body: "{}" };
}

/** A platform that lists three lost deliveries, one in each step. */
const platform: LostEvents = {
  async *find(cursor, listStored) {
    searches.push(cursor);
    const all = ["one", "two", "three"];
    const stored = await listStored(all);
    for (const id of all) {
      await harness.clock.advance(stepMs);
      yield { events: stored.has(id) ? [] : [anEvent(id)], cursor: id };
    }
  },
};

function aRecovery(lostEvents = new Map([["memory", platform]])): EventRecovery {
  const { clock, storage } = harness;
  return new EventRecovery({ lostEvents, storage, clock, log: SILENT_LOG });
}

async function storedOnes(): Promise<string[]> {
  const events = await Promise.all(["one", "two", "three"].map((key) => harness.storage.inbox.next(key)));
  return events.flatMap((event) => event?.deliveryId ?? []);
}

test("lost events are stored as if they had just arrived, and stored ones only once", async () => {
  await harness.storage.inbox.put({ ...anEvent("two"), id: "known", receivedAt: harness.clock.now() });

  await aRecovery().start();
  await harness.clock.advance(3 * MINUTE_MS);
  await aRecovery().round();

  expect(await storedOnes()).toEqual(["one", "two", "three"]);
  expect((await harness.storage.inbox.next("two"))?.id).toBe("known");
  expect(searches).toEqual([undefined, "three"]);
});

test("a worker searches when it starts, and of two workers one searches every three minutes", async () => {
  const [first, second] = [aRecovery(), aRecovery()];
  await first.start();
  await second.start();
  expect(searches).toHaveLength(2);

  await harness.clock.advance(2 * MINUTE_MS);
  await Promise.all([first.round(), second.round()]);
  expect(searches).toHaveLength(2);
  await harness.clock.advance(MINUTE_MS);
  await Promise.all([first.round(), second.round()]);
  expect(searches).toHaveLength(3);
});

test("a search that takes long ends, and the next one continues where it was", async () => {
  stepMs = 40_000;

  await aRecovery().start();

  expect(await storedOnes()).toEqual(["one", "two"]);
  await aRecovery().start();
  expect(searches).toEqual([undefined, "two"]);
});

test("a platform that does not answer does not keep others from being searched", async () => {
  const broken: LostEvents = {
    // biome-ignore lint/correctness/useYield: it fails before its first step
    async *find() {
      throw new Error("away");
    },
  };
  const lostEvents = new Map([
    ["broken", broken],
    ["memory", platform],
  ]);

  await aRecovery(lostEvents).start();

  expect(await storedOnes()).toEqual(["one", "two", "three"]);
});
