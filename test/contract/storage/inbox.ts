import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DISPOSITIONS } from "../../../src/core/ports/stores/inbox-store.ts";
import { UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import type { InboxEvent } from "../../../src/core/ports/thread-adapter.ts";
import { anInboxEvent, aReply, aThread } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

const MANY = 1_000;

export function describeInbox(harness: () => StorageHarness): void {
  describe("the inbox", () => {
    test("an event is stored unchanged, with its job", async () => {
      const { jobs, pubsub, storage } = harness();
      const event = anInboxEvent({ body: '{"text":"\\u0000 \u{1F600}"}', name: "issue_comment" });

      expect(await storage.inbox.put(event)).toBe(true);

      const stored = await storage.inbox.next(event.orderingKey);
      expect(stored).toEqual({ ...event, receivedAt: expect.any(Date) });
      expect(jobs).toContainEqual({ kind: "inbox", key: event.orderingKey, afterMs: 0 });
      expect(pubsub).toContain("jobs:inbox");
    });

    test("the job of an event that collects others starts later", async () => {
      const { jobs, storage } = harness();
      const event = { ...anInboxEvent(), collectMs: 3_000 };

      await storage.inbox.put(event);

      expect(jobs).toContainEqual({ kind: "inbox", key: event.orderingKey, afterMs: 3_000 });
    });

    test("the arrival of an adapter's last event is known", async () => {
      const { inbox, inboxList } = harness().storage;
      const adapter = randomUUID();
      const receivedAt = new Date("2026-03-01T12:00:00.000Z");

      expect(await inboxList.lastReceivedAt(adapter)).toBeUndefined();
      await inbox.put(anInboxEvent({ adapter, receivedAt }));
      await inbox.put(anInboxEvent());

      expect(await inboxList.lastReceivedAt(adapter)).toBeInstanceOf(Date);
    });

    test("an event whose job cannot be stored is not stored", async () => {
      const { inbox } = harness().storage;
      const event = anInboxEvent();
      harness().failJobs();

      await expect(inbox.put(event)).rejects.toThrow("no jobs today");

      expect(await inbox.next(event.orderingKey)).toBeUndefined();
    });

    test("of fifty concurrent copies of a delivery one is stored", async () => {
      const { inbox } = harness().storage;
      const { deliveryId, orderingKey } = anInboxEvent();
      const put = () => inbox.put(anInboxEvent({ deliveryId, orderingKey }));

      const stored = await Promise.all(Array.from({ length: 50 }, put));

      expect(stored.filter((isNew) => isNew)).toHaveLength(1);
      expect(await countIn(harness(), orderingKey)).toBe(1);
    });

    test("an event whose author was asked keeps its body until an answer, which counts once", async () => {
      const { inbox } = harness().storage;
      const [asked, answer, second] = [anInboxEvent({ body: "asked" }), anInboxEvent(), anInboxEvent()];
      for (const event of [asked, answer, second]) {
        await inbox.put(event);
      }
      await inbox.complete({ inboxId: asked.id, disposition: "asked", dedupeKey: randomUUID() });
      await inbox.pruneBodies(0);
      expect(await inbox.findAsked(asked.id)).toMatchObject({ id: asked.id, body: "asked" });
      expect(await inbox.findAsked(answer.id)).toBeUndefined();

      const answers = { disposition: "replied", answers: asked.id } as const;
      await inbox.complete({ inboxId: answer.id, ...answers });
      await expect(inbox.complete({ inboxId: second.id, ...answers })).rejects.toThrow(UniqueConflict);

      expect(await inbox.findAsked(asked.id)).toBeUndefined();
      expect(await inbox.giveUpAsked(asked.id, "Too late.")).toBe(false);
      expect(await inbox.next(second.orderingKey)).toMatchObject({ id: second.id });
    });

    test("an event whose author gave no answer is given up once, with a notice", async () => {
      const { inbox } = harness().storage;
      const [asked, young] = [anInboxEvent(), anInboxEvent()];
      for (const event of [asked, young]) {
        await inbox.put(event);
        await inbox.complete({ inboxId: event.id, disposition: "asked" });
      }
      const listed = await inbox.listAsked(-1_000, MANY);
      expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining([asked.id, young.id]));
      expect(listed.find(({ id }) => id === asked.id)).toEqual({ ...asked, receivedAt: expect.any(Date) });
      expect((await inbox.listAsked(60_000, MANY)).map(({ id }) => id)).not.toContain(asked.id);
      const thread = aThread();

      const threadNotices = { thread, notices: [aReply("Nobody chose.")] };
      expect(await inbox.giveUpAsked(asked.id, "Nobody chose.", threadNotices)).toBe(true);
      expect(await inbox.giveUpAsked(asked.id, "Nobody chose.", threadNotices)).toBe(false);

      expect(harness().jobs.filter(({ key }) => key === thread.id)).toHaveLength(1);
    });

    test("an event that waits for the question of another is open again once that has ended", async () => {
      const { inbox } = harness().storage;
      const [asked, waiting, late] = [anInboxEvent({ body: "asked" }), anInboxEvent(), anInboxEvent()];
      for (const event of [asked, waiting, late]) {
        await inbox.put(event);
      }
      const wait = { disposition: "asked", waitsWith: asked.id } as const;
      await inbox.complete({ inboxId: asked.id, disposition: "asked" });
      await inbox.complete({ inboxId: waiting.id, ...wait });

      expect(await inbox.listWaitingWith(asked.id)).toMatchObject([{ id: waiting.id, waitsWith: asked.id }]);
      expect(await inbox.next(waiting.orderingKey)).not.toMatchObject({ id: waiting.id });
      expect(await inbox.giveUpAsked(asked.id, "Nobody chose.")).toBe(true);

      expect(await inbox.findAsked(waiting.id)).toBeUndefined();
      expect(await inbox.next(waiting.orderingKey)).toMatchObject({ id: waiting.id, body: waiting.body });
      await expect(inbox.complete({ inboxId: late.id, ...wait })).rejects.toThrow(UniqueConflict);
    });

    test("the events whose authors were asked in a thread are listed until they have an answer", async () => {
      const { inbox } = harness().storage;
      const [thread, elsewhere] = [aThread(), aThread()];
      const [first, second, other] = [anInboxEvent(), anInboxEvent(), anInboxEvent()];
      const ask = async (event: InboxEvent, where: typeof thread) => {
        await inbox.put(event);
        const question = { kind: "choice", requestId: event.id, text: "Where?", options: [] } as const;
        const threadNotices = { thread: where, notices: [question, question] };
        await inbox.complete({ inboxId: event.id, disposition: "asked" }, threadNotices);
      };
      await ask(first, thread);
      await ask(second, thread);
      await ask(other, elsewhere);

      const listed = await inbox.listAskedIn(thread.id);
      await inbox.giveUpAsked(first.id, "Nobody chose.");

      expect(listed.map(({ id }) => id)).toEqual([first.id, second.id]);
      expect(await inbox.listAskedIn(thread.id)).toEqual([{ ...second, receivedAt: expect.any(Date) }]);
    });

    test("the same delivery id of another adapter is stored", async () => {
      const { inbox } = harness().storage;
      const event = anInboxEvent();
      await inbox.put(event);

      expect(await inbox.put({ ...anInboxEvent(), adapter: "other", deliveryId: event.deliveryId })).toBe(
        true,
      );
      expect(await inbox.put({ ...anInboxEvent(), deliveryId: event.deliveryId })).toBe(false);
    });

    test("events with one ordering key are returned in the order of their arrival", async () => {
      const { inbox } = harness().storage;
      const orderingKey = randomUUID();
      const events = [0, 1, 2].map(() => anInboxEvent({ orderingKey }));
      for (const event of events) {
        await inbox.put(event);
      }
      await inbox.put(anInboxEvent());

      expect(await drain(harness(), orderingKey)).toEqual(events.map(({ id }) => id));
      expect(await inbox.next(orderingKey)).toBeUndefined();
    });

    test.each(DISPOSITIONS)("an event can end as %s", async (disposition) => {
      const { inbox } = harness().storage;
      const event = anInboxEvent();
      await inbox.put(event);

      await inbox.complete({ inboxId: event.id, disposition, reason: "why", dedupeKey: event.id });

      expect(await inbox.next(event.orderingKey)).toBeUndefined();
    });

    test("the results of a message are those of its events that have ended", async () => {
      const { inbox } = harness().storage;
      const messageId = randomUUID();
      const run = await aStoredRun(harness());
      const events = ["1", "2", "3"].map((version) => ({ version, event: anInboxEvent() }));
      for (const { event } of events) {
        await inbox.put(event);
      }
      for (const { event, version } of events.slice(0, 2)) {
        const revision = { messageId, version, isEdit: false };
        const ofRun = version === "1" ? { runId: run.id } : {};
        await inbox.complete({ inboxId: event.id, disposition: "ignored", revision, ...ofRun });
      }

      expect(await inbox.listResultsOf(messageId)).toEqual([
        { inboxId: events[0]?.event.id, disposition: "ignored", version: "1", runId: run.id },
        { inboxId: events[1]?.event.id, disposition: "ignored", version: "2" },
      ]);
      expect(await inbox.listResultsOf(randomUUID())).toEqual([]);
    });

    test("the body of an ignored event is deleted with its result, and others are kept for a while", async () => {
      const { inbox } = harness().storage;
      const orderingKey = randomUUID();
      const [failed, ignored] = [anInboxEvent({ orderingKey }), anInboxEvent({ orderingKey })];
      for (const { id, ...event } of [failed, ignored]) {
        await inbox.put({ id, ...event });
      }
      await inbox.complete({ inboxId: failed.id, disposition: "failed" });
      await inbox.complete({ inboxId: ignored.id, disposition: "ignored" });

      await inbox.pruneBodies(0);

      expect(await inbox.put({ ...anInboxEvent(), deliveryId: ignored.deliveryId })).toBe(false);
      expect(await inbox.retry(failed.id)).toBe(true);
      expect((await inbox.next(orderingKey))?.body).toBe(failed.body);
    });

    test("replies that came before the request of their thread are open again after it", async () => {
      const { inbox } = harness().storage;
      const orderingKey = randomUUID();
      const [early, older, chatter, request] = [1, 2, 3, 4].map(() => anInboxEvent({ orderingKey })) as [
        InboxEvent,
        InboxEvent,
        InboxEvent,
        InboxEvent,
      ];
      for (const event of [early, older, chatter, request]) {
        await inbox.put(event);
      }
      const about = (version: string) => ({ messageId: randomUUID(), version, isEdit: false });
      const ignored = { disposition: "ignored", mayComeEarly: true } as const;
      await inbox.complete({ inboxId: early.id, ...ignored, revision: about("2.1") });
      await inbox.complete({ inboxId: older.id, ...ignored, revision: about("1.9") });
      await inbox.complete({ inboxId: chatter.id, disposition: "ignored", revision: about("2.2") });

      const inboxResult = {
        inboxId: request.id,
        disposition: "run_created",
        revision: about("2.0"),
      } as const;
      await aStoredRun(harness(), {}, { inboxResult });

      expect(await drain(harness(), orderingKey)).toEqual([early.id]);
    });

    test("the end of an event can add a notice", async () => {
      const { jobs, storage } = harness();
      const event = anInboxEvent();
      const thread = aThread();
      await storage.inbox.put(event);
      const notices = [aReply("one"), aReply("two")];

      await storage.inbox.complete({ inboxId: event.id, disposition: "replied" }, { thread, notices });

      expect(jobs).toContainEqual({ kind: "deliver", key: thread.id });
      expect(await storage.outbox.take(thread.id)).toMatchObject({ notice: notices[0], adapter: "memory" });
    });

    test("a notice that may be sent once is added once, and each event ends", async () => {
      const { inbox, outbox } = harness().storage;
      const [thread, once] = [aThread(), randomUUID()];
      const events = [anInboxEvent(), anInboxEvent(), anInboxEvent()];
      for (const event of events) {
        await inbox.put(event);
      }

      const threadNotices = { thread, notices: [aReply("no")], once };
      await Promise.all(
        events.map(({ id }) => inbox.complete({ inboxId: id, disposition: "refused" }, threadNotices)),
      );

      const said = await outbox.take(thread.id);
      await outbox.sent(said?.id ?? "", "receipt");
      expect([said?.notice, await outbox.take(thread.id)]).toEqual([aReply("no"), undefined]);
      for (const { orderingKey } of events) {
        expect(await inbox.next(orderingKey)).toBeUndefined();
      }
    });

    test("of two events with the same dedupe key one gets the result, even if both end concurrently", async () => {
      const { inbox, outbox } = harness().storage;
      const dedupeKey = randomUUID();
      const thread = aThread();
      const events = [anInboxEvent(), anInboxEvent()];
      for (const event of events) {
        await inbox.put(event);
      }
      const settle = ({ id }: { id: string }) => {
        const threadNotices = { thread, notices: [aReply("hello")] };
        return inbox.complete({ inboxId: id, disposition: "replied", dedupeKey }, threadNotices);
      };

      const settled = await Promise.allSettled(events.map(settle));

      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(settled.find(({ status }) => status === "rejected")).toMatchObject({
        reason: new UniqueConflict("dedupeKey"),
      });
      const said = await outbox.take(thread.id);
      await outbox.sent(said?.id ?? "", "receipt");
      expect(await outbox.take(thread.id)).toBeUndefined();
    });

    test("an event ends only once", async () => {
      const { inbox } = harness().storage;
      const event = anInboxEvent();
      await inbox.put(event);
      const settle = () => inbox.complete({ inboxId: event.id, disposition: "ignored" });
      await settle();

      await expect(settle()).rejects.toEqual(new UniqueConflict("dedupeKey"));
    });

    test("failures of an event are counted, and it stays open", async () => {
      const { inbox } = harness().storage;
      const event = anInboxEvent();
      await inbox.put(event);

      expect(await inbox.countFailure(event.id, "broken")).toBe(1);
      await inbox.noteFailure(event.id, "waits for an operator");
      expect(await inbox.countFailure(event.id, "broken")).toBe(2);
      expect(await inbox.next(event.orderingKey)).toMatchObject({ id: event.id });
    });

    test("ordering keys with an old open event are listed", async () => {
      const { inbox } = harness().storage;
      const [open, settled] = [anInboxEvent(), anInboxEvent()];
      for (const event of [open, { ...anInboxEvent(), orderingKey: open.orderingKey }, settled]) {
        await inbox.put(event);
      }
      await inbox.complete({ inboxId: settled.id, disposition: "ignored" });
      expect(await inbox.listOpenOrderingKeys(MANY)).not.toContain(open.orderingKey);

      await harness().passTime(20_000);
      const young = anInboxEvent();
      await inbox.put(young);

      const orderingKeys = await inbox.listOpenOrderingKeys(MANY);
      expect(orderingKeys.filter((orderingKey) => orderingKey === open.orderingKey)).toHaveLength(1);
      expect(orderingKeys).not.toContain(settled.orderingKey);
      expect(orderingKeys).not.toContain(young.orderingKey);
      expect(await inbox.listOpenOrderingKeys(1)).toHaveLength(1);
    });
  });
}

async function drain({ storage }: StorageHarness, orderingKey: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let event = await storage.inbox.next(orderingKey); event !== undefined; ) {
    ids.push(event.id);
    await storage.inbox.complete({ inboxId: event.id, disposition: "ignored" });
    event = await storage.inbox.next(orderingKey);
  }
  return ids;
}

async function countIn(harness: StorageHarness, orderingKey: string): Promise<number> {
  return (await drain(harness, orderingKey)).length;
}
