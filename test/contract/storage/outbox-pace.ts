import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Notice } from "../../../src/core/model/threads/notice.ts";
import type { PaceLimit } from "../../../src/core/model/threads/pace-limit.ts";
import type { LimitsOf } from "../../../src/core/ports/stores/outbox-store.ts";
import { limitsOf } from "../../../src/core/threads/outbox/pace.ts";
import { aCard, aChange, aReply } from "../../support/run-builders.ts";
import { aBoundThread, aStoredRun, type StorageHarness } from "./harness.ts";

const POSTS = { name: "posts", counts: ["post"], per: "installation", everyMs: 10_000, burst: 1 } as const;
const EDITS = { name: "edits", counts: ["edit"], per: "installation", everyMs: 10_000, burst: 2 } as const;
const REACTIONS = {
  name: "reactions",
  counts: ["reaction"],
  per: "installation",
  everyMs: 10_000,
  burst: 1,
} as const;

export function describeOutboxPace(harness: () => StorageHarness): void {
  describe("the pace of the outbox", () => {
    test("messages of several threads share the rate of their installation, in the order in which they were tried", async () => {
      const limits = only(POSTS);
      const threads = await Promise.all(
        [1, 2, 3].map((number) => aThreadWith(harness(), [aReply(`${number}`)])),
      );
      const { jobs, storage } = harness();

      expect(await storage.outbox.take(threads[0]?.id ?? "", limits)).toMatchObject({ notice: aReply("1") });
      for (const { id } of threads.slice(1)) {
        expect(await storage.outbox.take(id, limits)).toBeUndefined();
      }
      const waits = threads.map(({ id }) => jobs.findLast(({ key }) => key === id)?.afterMs ?? 0);
      expect(waits.map((ms) => 5 * Math.round(ms / 5_000))).toEqual([0, 10, 20]);

      await harness().passTime(10_100);
      expect(await storage.outbox.take(threads[2]?.id ?? "", limits)).toBeUndefined();
      expect(await storage.outbox.take(threads[1]?.id ?? "", limits)).toMatchObject({
        tries: 0,
        maybeShown: false,
      });
      await harness().passTime(10_000);
      expect(await storage.outbox.take(threads[2]?.id ?? "", limits)).toMatchObject({ notice: aReply("3") });
    });

    test("a message that waits for the rate holds back the later messages of its thread", async () => {
      const limits = only(POSTS);
      const thread = await aThreadWith(harness(), [aReply("one"), aReply("two"), aReply("three")]);

      expect(await takeAndSend(harness(), thread.id, limits)).toEqual(aReply("one"));
      expect(await takeAndSend(harness(), thread.id, limits)).toBeUndefined();
      await harness().passTime(10_100);

      expect(await takeAndSend(harness(), thread.id, limits)).toEqual(aReply("two"));
      expect(await takeAndSend(harness(), thread.id, limits)).toBeUndefined();
    });

    test("the newest card that nobody saw yet is shown in the place of the first one, before the answer", async () => {
      const limits = only(POSTS);
      const thread = await aThreadWith(harness(), [aReply("earlier")]);
      expect(await takeAndSend(harness(), thread.id, limits)).toEqual(aReply("earlier"));
      const card = (turn: number) => aCard(thread.run, { state: "INPROGRESS", turn });
      await say(harness(), thread.run, [card(1)]);
      expect(await takeAndSend(harness(), thread.id, limits)).toBeUndefined();

      await say(harness(), thread.run, [aReply("the answer"), card(2)]);
      await harness().passTime(10_100);
      expect(await takeAndSend(harness(), thread.id, limits)).toEqual(card(2));
      await harness().passTime(10_100);

      expect(await takeAndSend(harness(), thread.id, limits)).toEqual(aReply("the answer"));
    });

    test("a card and a reaction that wait for the rate hold no message back, and the newest of them takes their time", async () => {
      const limits = only(EDITS, REACTIONS);
      const { id, run } = await aThreadWith(harness(), []);
      const seen = { kind: "seen", messageRef: "m1" } as const;
      const ended = { kind: "ended", messageRef: "m1", end: "done" } as const;
      const card = (turn: number) => aCard(run, { state: "INPROGRESS", turn });
      await say(harness(), run, [card(1), { kind: "seen", messageRef: "m0" }]);
      await deliverAll(harness(), id, limits);
      await say(harness(), run, [card(2)]);
      await deliverAll(harness(), id, limits);
      await say(harness(), run, [card(3)]);
      await deliverAll(harness(), id, limits);

      await say(harness(), run, [card(4), seen, aReply("first")]);
      expect(await deliverAll(harness(), id, limits)).toEqual([aReply("first")]);
      await say(harness(), run, [card(5), ended]);
      expect(await deliverAll(harness(), id, limits)).toEqual([]);
      await harness().passTime(10_100);

      expect(await deliverAll(harness(), id, limits)).toEqual([ended, card(5)]);
    });

    test("the end of a run does not wait behind the progress of others", async () => {
      const limits = only({ ...EDITS, reserve: 1 });
      const busy = await shownCards(harness(), 3, limits);
      const [ending] = await shownCards(harness(), 1, limits);
      for (const { run, id } of busy) {
        await say(harness(), run, [aCard(run, { state: "INPROGRESS", turn: 2 })]);
        await harness().storage.outbox.take(id, limits);
      }

      const end = aCard(ending?.run as Run, { state: "SUCCEEDED" });
      await say(harness(), ending?.run as Run, [end]);

      expect(await deliverAll(harness(), ending?.id ?? "", limits)).toEqual([end]);
    });

    test("the end of a run does not take the time of the progress that it replaces", async () => {
      const limits = only({ ...EDITS, burst: 3, reserve: 2 });
      const [other, ending] = await shownCards(harness(), 2, limits);
      const { run } = ending as { readonly run: Run };
      await say(harness(), other?.run as Run, [aCard(other?.run as Run, { state: "INPROGRESS", turn: 2 })]);
      await deliverAll(harness(), other?.id ?? "", limits);
      await say(harness(), run, [aCard(run, { state: "INPROGRESS", turn: 2 })]);
      expect(await deliverAll(harness(), ending?.id ?? "", limits)).toEqual([]);

      const end = aCard(run, { state: "FAILED" });
      await say(harness(), run, [end]);

      expect(await deliverAll(harness(), ending?.id ?? "", limits)).toEqual([end]);
    });

    test("a card that gives way lets a message of its thread pass, and the log says which messages wait", async () => {
      const limits = only({ ...POSTS, burst: 2, reserve: 1, cardsYield: true });
      const first = await aThreadWith(harness(), [aReply("one")]);
      expect(await deliverAll(harness(), first.id, limits)).toEqual([aReply("one")]);
      const thread = await aThreadWith(harness(), []);
      const card = aCard(thread.run, { state: "SUCCEEDED" });
      await say(harness(), thread.run, [card, aReply("the answer"), aReply("another")]);

      expect(await deliverAll(harness(), thread.id, limits)).toEqual([aReply("the answer")]);
      const held = await harness().storage.noticeLog.listHeld();
      expect(held).toEqual([{ adapter: "memory", count: 1, until: expect.any(Date) }]);
      await harness().passTime(60_000);

      expect(await deliverAll(harness(), thread.id, limits)).toEqual([card, aReply("another")]);
      expect(await harness().storage.noticeLog.listHeld()).toEqual([]);
    });

    test("edits and reactions pass a message that waits a minute, later messages do not, and the log has the time", async () => {
      const hour = { ...POSTS, everyMs: 120_000, burst: 2, spares: ["edit", "reaction"] } as const;
      const limits = only(hour);
      const [thread] = await shownCards(harness(), 1, limits);
      const { id = "", run } = thread ?? {};
      const end = aCard(run as Run, { state: "SUCCEEDED" });
      const seen = { kind: "seen", messageRef: "one" } as const;
      await say(harness(), run as Run, [aReply("one"), aReply("two"), aReply("three"), end, seen]);
      expect(await takeAndSend(harness(), id, limits)).toEqual(aReply("one"));

      const passed = await harness().storage.outbox.take(id, limits);

      expect(passed).toMatchObject({
        notice: end,
        behind: { notice: aReply("two"), until: expect.any(Date) },
      });
      await harness().storage.outbox.sent(passed?.id ?? "", "there");
      expect(await deliverAll(harness(), id, limits)).toEqual([seen]);
      const query = { teamId: (run as Run).teamId, runId: (run as Run).id, limit: 10 };
      const logged = await harness().storage.noticeLog.list({ ...query, state: "pending" });
      expect(logged.map(({ heldUntil }) => heldUntil)).toEqual([undefined, expect.any(Date)]);
      await harness().passTime(120_100);

      expect(await takeAndSend(harness(), id, limits)).toEqual(aReply("two"));
      expect(await takeAndSend(harness(), id, limits)).toBeUndefined();
    });

    test("a spared edit counts nothing, and is dropped as progress while little is left", async () => {
      const hour = { ...POSTS, burst: 3, reserve: 2, spares: ["edit", "reaction"] } as const;
      const limits = only(hour);
      const thread = await aThreadWith(harness(), []);
      const card = (state: "QUEUED" | "INPROGRESS" | "SUCCEEDED", turn: number) =>
        aCard(thread.run, { state, turn });
      await say(harness(), thread.run, [card("QUEUED", 1)]);
      await deliverAll(harness(), thread.id, limits);
      await harness().passTime(10_100);

      await say(harness(), thread.run, [card("INPROGRESS", 2)]);
      expect(await deliverAll(harness(), thread.id, limits)).toEqual([card("INPROGRESS", 2)]);
      await say(harness(), thread.run, [aReply("one"), aReply("two")]);
      expect(await deliverAll(harness(), thread.id, limits)).toEqual([aReply("one"), aReply("two")]);

      const ended = { kind: "ended", messageRef: "m1", end: "done" } as const;
      await say(harness(), thread.run, [card("INPROGRESS", 3), ended]);
      expect(await deliverAll(harness(), thread.id, limits)).toEqual([]);
      await say(harness(), thread.run, [card("SUCCEEDED", 4)]);
      expect(await deliverAll(harness(), thread.id, limits)).toEqual([card("SUCCEEDED", 4)]);
      await harness().passTime(60_000);
      expect(await deliverAll(harness(), thread.id, limits)).toEqual([]);
    });

    test("after a refusal with a time, everything under the same limit waits, and the refused one is first", async () => {
      const limits = only({ ...POSTS, burst: 5 });
      const refused = await aThreadWith(harness(), [aReply("one")]);
      const others = await Promise.all([2, 3].map((number) => aThreadWith(harness(), [aReply(`${number}`)])));
      const { outbox } = harness().storage;
      const taken = (await outbox.take(refused.id, limits)) ?? expect.fail("Nothing is due.");

      await outbox.failed(taken.id, "slow down", 30_000, limits(taken));
      for (const { id } of others) {
        expect(await outbox.take(id, limits)).toBeUndefined();
      }
      await harness().passTime(29_000);
      expect(await outbox.take(refused.id, limits)).toBeUndefined();
      await harness().passTime(1_200);

      expect(await outbox.take(refused.id, limits)).toMatchObject({ maybeShown: true, tries: 1 });
      expect(await outbox.take(others[1]?.id ?? "", limits)).toBeUndefined();
      expect(await outbox.take(others[0]?.id ?? "", limits)).toMatchObject({ notice: aReply("2") });
    });

    test("states of limits are deleted after an hour without use", async () => {
      const limits = only(POSTS);
      const thread = await aThreadWith(harness(), [aReply("one")]);
      await harness().storage.outbox.take(thread.id, limits);
      await harness().passTime(3_500_000);
      await harness().storage.outbox.prunePaces();
      const { id } = await aThreadWith(harness(), [aReply("two")]);
      await harness().storage.outbox.take(id, limits);

      await harness().passTime(3_700_000);

      expect(await harness().storage.outbox.prunePaces()).toBeGreaterThanOrEqual(1);
      expect(await harness().storage.outbox.prunePaces()).toBe(0);
    });
  });
}

/** The limits in a place that no other test uses. */
function only(...pace: readonly PaceLimit[]): LimitsOf {
  const place = randomUUID();
  return (delivery) =>
    limitsOf(delivery, { pace }).map((limit) => ({ ...limit, key: `${place} ${limit.name}` }));
}

async function aThreadWith(harness: StorageHarness, said: readonly Notice[]) {
  const run = await aStoredRun(harness);
  const { id } = await aBoundThread(harness, run);
  await say(harness, run, said);
  return { run, id };
}

/** Threads whose cards are shown. */
function shownCards(harness: StorageHarness, count: number, limits: LimitsOf) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const thread = await aThreadWith(harness, []);
      await say(harness, thread.run, [aCard(thread.run, { state: "QUEUED" })]);
      await takeAndSend(harness, thread.id, limits);
      return thread;
    }),
  );
}

async function say({ storage }: StorageHarness, { id }: Run, notices: readonly Notice[]): Promise<void> {
  await storage.runs.change(id, ({ run, threads }) =>
    aChange(run, {
      notices: threads.flatMap(({ id: threadId }) => notices.map((notice) => ({ threadId, notice }))),
    }),
  );
}

async function takeAndSend(
  { storage: { outbox } }: StorageHarness,
  threadId: string,
  limits: LimitsOf,
): Promise<Notice | undefined> {
  const taken = await outbox.take(threadId, limits);
  if (taken !== undefined) {
    await outbox.sent(taken.id, `receipt of ${taken.id}`);
  }
  return taken?.notice;
}

async function deliverAll(
  harness: StorageHarness,
  threadId: string,
  limits: LimitsOf,
): Promise<readonly Notice[]> {
  const notices: Notice[] = [];
  for (let next = await takeAndSend(harness, threadId, limits); next !== undefined; ) {
    notices.push(next);
    next = await takeAndSend(harness, threadId, limits);
  }
  return notices;
}
