import { describe, expect, test } from "vitest";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Notice } from "../../../src/core/model/threads/notice.ts";
import type { TakenDelivery } from "../../../src/core/ports/stores/outbox-store.ts";
import { aCard, aChange, aReply, aRun } from "../../support/run-builders.ts";
import { aBoundThread, aStoredRun, type StorageHarness } from "./harness.ts";

const MANY = 1_000;

export function describeOutbox(harness: () => StorageHarness): void {
  describe("the outbox", () => {
    test("deliveries of a thread are taken in the order in which they were added", async () => {
      const { said, thread } = await aThreadWith(harness(), [aReply("one"), aReply("two"), aReply("three")]);

      expect(await deliverAll(harness(), thread.id)).toEqual(said);
    });

    test("a delivery names its destination", async () => {
      const { run, said, thread } = await aThreadWith(harness(), [aReply("one")]);

      const { id, adapter, installation, key } = thread;
      expect(await harness().storage.outbox.take(id)).toEqual({
        id: expect.any(String),
        adapter,
        runId: run.id,
        thread: { id, installation, key },
        notice: said[0],
        maybeShown: false,
        tries: 0,
      });
    });

    test("deliveries of other threads and sent ones are not taken", async () => {
      const { outbox } = harness().storage;
      const { thread } = await aThreadWith(harness(), [aReply("one")]);
      const { thread: other } = await aThreadWith(harness(), []);
      await outbox.sent((await take(harness(), thread.id)).id, "receipt");

      expect(await outbox.take(thread.id)).toBeUndefined();
      expect(await outbox.take(other.id)).toBeUndefined();
    });

    test("a delivery that was taken and not completed is taken again, marked as possibly shown", async () => {
      const { thread } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);
      const first = await take(harness(), thread.id);

      const again = await take(harness(), thread.id);

      expect(again).toEqual({ ...first, maybeShown: true, tries: 1 });
    });

    test("a card with a newer card behind it is dropped, and the newer one takes its place", async () => {
      const { run, thread } = await aThreadWith(harness(), []);
      const cards = (["QUEUED", "PENDING", "CLAIMED"] as const).map((state) => aCard(run, { state }));
      await say(harness(), run, [cards[0], aReply("between"), cards[1], cards[2]]);

      expect(await deliverAll(harness(), thread.id)).toEqual([cards[2], aReply("between")]);
    });

    test("a card names where its question is shown, and the question and its answer are one message", async () => {
      const { outbox } = harness().storage;
      const { run, thread } = await aThreadWith(harness(), []);
      const question = { permissionId: "p1", title: "May I?", options: [] };
      const asks = { runId: run.id, permissionId: "p1", options: [] };
      const asked = { kind: "message", purpose: "question", text: "May I?", asks } as const;
      const card = aCard(run, { state: "BLOCKED", question });
      await say(harness(), run, [asked, card]);
      await outbox.sent((await take(harness(), thread.id)).id, "at the question");

      const shown = await take(harness(), thread.id);
      await outbox.sent(shown.id, "at the card");
      await say(harness(), run, [{ ...asked, text: "May I?\nAnswered: Allow." }]);

      expect(shown).toMatchObject({ notice: card, questionShownAt: "at the question" });
      expect(await take(harness(), thread.id)).toMatchObject({ shownAt: "at the question" });
    });

    test("a reaction that is followed by a newer one to the same message is dropped", async () => {
      const ended = { kind: "ended", messageRef: "m1", end: "done" } as const;
      const { thread } = await aThreadWith(harness(), [{ kind: "seen", messageRef: "m1" }, ended]);

      expect(await deliverAll(harness(), thread.id)).toEqual([ended]);
    });

    test("an edit that waits for its retry holds back only later edits of the same message", async () => {
      const { outbox } = harness().storage;
      const shownRun = aRun();
      const { run, thread } = await aThreadWith(harness(), [aCard(shownRun, { state: "QUEUED" })]);
      await outbox.sent((await take(harness(), thread.id)).id, "card-1");
      const first = aCard(shownRun, { state: "PENDING" });
      await say(harness(), run, [first]);
      await outbox.failed((await take(harness(), thread.id)).id, "busy", 5_000);
      const newer = aCard(shownRun, { state: "SUCCEEDED" });

      await say(harness(), run, [newer, aReply("one")]);
      expect(await deliverAll(harness(), thread.id)).toEqual([aReply("one")]);
      await harness().passTime(5_100);

      expect(await deliverAll(harness(), thread.id)).toEqual([first, newer]);
    });

    test("cards of different runs do not replace each other", async () => {
      const { run, thread } = await aThreadWith(harness(), []);
      const other = await aStoredRun(harness());
      const cards = [aCard(run), aCard(other)];
      await say(harness(), run, cards);

      expect(await deliverAll(harness(), thread.id)).toEqual(cards);
    });

    test("a card that was tried is not dropped, because it may be the message to edit", async () => {
      const { outbox } = harness().storage;
      const { run, thread } = await aThreadWith(harness(), []);
      await say(harness(), run, [aCard(run, { state: "QUEUED" })]);
      const first = await take(harness(), thread.id);
      await say(harness(), run, [aCard(run, { state: "PENDING" })]);

      const again = await take(harness(), thread.id);
      await outbox.sent(again.id, "card-1");
      const next = await take(harness(), thread.id);

      expect(again).toMatchObject({ id: first.id, maybeShown: true, notice: { card: { state: "QUEUED" } } });
      expect(next).toMatchObject({ shownAt: "card-1", notice: { card: { state: "PENDING" } } });
    });

    test("a card that waits for its retry holds the newer cards back, so that the newest one is shown last", async () => {
      const { outbox } = harness().storage;
      const { run, thread } = await aThreadWith(harness(), []);
      const cards = (["QUEUED", "PENDING", "SUCCEEDED"] as const).map((state) => aCard(run, { state }));
      await say(harness(), run, cards.slice(0, 1));
      const first = await take(harness(), thread.id);
      for (const card of cards.slice(1)) {
        await say(harness(), run, [card]);
      }
      await outbox.failed(first.id, "busy", 5_000);

      expect(await outbox.take(thread.id)).toBeUndefined();
      await harness().passTime(5_100);
      expect(await deliverAll(harness(), thread.id)).toEqual([cards[0], cards[2]]);
    });

    test("a card comes with the receipt of its message key, and a separate message without one", async () => {
      const { outbox } = harness().storage;
      const { run, thread } = await aThreadWith(harness(), []);
      await say(harness(), run, [aCard(run), aReply("one")]);
      await outbox.sent((await take(harness(), thread.id)).id, "card-1");
      const reply = await take(harness(), thread.id);
      await outbox.sent(reply.id, "reply-1");
      await say(harness(), run, [aReply("two"), aCard(run)]);

      const second = await take(harness(), thread.id);
      await outbox.sent(second.id, "reply-2");
      const card = await take(harness(), thread.id);
      await outbox.sent(card.id, "card-2");
      await say(harness(), run, [aCard(run)]);

      for (const message of [reply, second]) {
        expect(message).not.toHaveProperty("shownAt");
      }
      expect(card.shownAt).toBe("card-1");
      expect(await take(harness(), thread.id)).toMatchObject({ shownAt: "card-2" });
    });

    test("later deliveries of a thread wait while one waits for its retry", async () => {
      const { jobs, storage } = harness();
      const { said, thread } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);
      const first = await take(harness(), thread.id);

      await storage.outbox.failed(first.id, "busy", 5_000);

      expect(jobs.findLast(({ key }) => key === thread.id)?.afterMs).toBeGreaterThanOrEqual(5_000);
      expect(await storage.outbox.take(thread.id)).toBeUndefined();
      await harness().passTime(5_100);
      expect(await deliverAll(harness(), thread.id)).toEqual(said);
    });

    test("a retry after a fraction of a millisecond is possible", async () => {
      const { thread } = await aThreadWith(harness(), [aReply("one")]);
      const first = await take(harness(), thread.id);

      await harness().storage.outbox.failed(first.id, "busy", 1_000.5);

      await harness().passTime(1_100);
      expect(await take(harness(), thread.id)).toMatchObject({ id: first.id, tries: 1 });
    });

    test("after a delivery is given up the next one is taken, and the dead ones are listed by their reason", async () => {
      const { noticeLog, outbox } = harness().storage;
      const { run, said, thread } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);
      const first = await take(harness(), thread.id);

      await outbox.failed(first.id, "refused");

      expect(first.runId).toBe(run.id);
      const { adapter, key: threadKey } = thread;
      expect(await noticeLog.listDead(7)).toContainEqual({ adapter, threadKey, error: "refused", count: 1 });

      expect(await deliverAll(harness(), thread.id)).toEqual(said.slice(1));
    });

    test("a delivery that is dropped is neither sent nor given up, and the next one is taken", async () => {
      const { noticeLog, outbox } = harness().storage;
      const { said, thread } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);
      const first = await take(harness(), thread.id);
      const { adapter, key: threadKey } = thread;

      await outbox.dropped(first.id);
      await outbox.dropped(first.id);

      expect(await noticeLog.listDead(7)).not.toContainEqual(expect.objectContaining({ adapter, threadKey }));
      expect(await deliverAll(harness(), thread.id)).toEqual(said.slice(1));
      await outbox.dropped(first.id);
    });

    test("the card after one that was given up is marked as possibly shown", async () => {
      const { outbox } = harness().storage;
      const { run, thread } = await aThreadWith(harness(), []);
      await say(harness(), run, [aCard(run), aReply("one")]);
      await outbox.failed((await take(harness(), thread.id)).id, "refused");
      await say(harness(), run, [aCard(run)]);

      const card = await take(harness(), thread.id);
      await outbox.sent(card.id, "card-1");

      expect(card).toMatchObject({ maybeShown: true, tries: 0, notice: aCard(run) });
      expect(await take(harness(), thread.id)).toMatchObject({ maybeShown: false, notice: aReply("one") });
    });

    test.each([[undefined], [0]])(
      "a late failure (%s) of a delivery that was sent meanwhile changes nothing",
      async (retry) => {
        const { outbox } = harness().storage;
        const { run, thread } = await aThreadWith(harness(), []);
        await say(harness(), run, [aCard(run)]);
        const { id } = await take(harness(), thread.id);
        await take(harness(), thread.id);
        await outbox.sent(id, "card-1");

        await outbox.failed(id, "slow", retry);

        expect(await outbox.take(thread.id)).toBeUndefined();
      },
    );

    test("threads with an overdue delivery are listed", async () => {
      const { outbox } = harness().storage;
      const { thread: due } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);
      const { thread: sent } = await aThreadWith(harness(), [aReply("one")]);
      const { thread: later } = await aThreadWith(harness(), [aReply("one")]);
      await outbox.sent((await take(harness(), sent.id)).id, "receipt");
      await outbox.failed((await take(harness(), later.id)).id, "busy", 60_000);
      expect(await outbox.listDue(MANY)).not.toContain(due.id);

      await harness().passTime(20_000);

      const found = await outbox.listDue(MANY);
      expect(found.filter((id) => id === due.id)).toHaveLength(1);
      for (const other of [sent, later]) {
        expect(found).not.toContain(other.id);
      }
    });

    test("two concurrent takes both get the delivery, the second one as possibly shown", async () => {
      const { thread } = await aThreadWith(harness(), [aReply("one"), aReply("two")]);

      const taken = await Promise.all([take(harness(), thread.id), take(harness(), thread.id)]);

      expect(taken.map(({ notice }) => notice)).toEqual([aReply("one"), aReply("one")]);
      expect(taken.map(({ maybeShown }) => maybeShown).toSorted()).toEqual([false, true]);
    });
  });
}

async function aThreadWith(harness: StorageHarness, said: readonly Notice[]) {
  const run = await aStoredRun(harness);
  const thread = await aBoundThread(harness, run);
  await say(harness, run, said);
  return { run, said, thread };
}

/** Adds the notices to the threads of the run in one change. */
async function say(
  { storage }: StorageHarness,
  { id }: Run,
  said: readonly (Notice | undefined)[],
): Promise<void> {
  const notices = said.filter((notice) => notice !== undefined);
  await storage.runs.change(id, ({ run, threads }) =>
    aChange(run, {
      notices: threads.flatMap(({ id: threadId }) => notices.map((notice) => ({ threadId, notice }))),
    }),
  );
}

async function take({ storage }: StorageHarness, threadId: string): Promise<TakenDelivery> {
  const delivery = await storage.outbox.take(threadId);
  if (delivery === undefined) {
    throw new Error("Nothing is due.");
  }
  return delivery;
}

async function deliverAll({ storage }: StorageHarness, threadId: string): Promise<readonly Notice[]> {
  const notices: Notice[] = [];
  for (let next = await storage.outbox.take(threadId); next !== undefined; ) {
    notices.push(next.notice);
    await storage.outbox.sent(next.id, `receipt-${notices.length}`);
    next = await storage.outbox.take(threadId);
  }
  return notices;
}
