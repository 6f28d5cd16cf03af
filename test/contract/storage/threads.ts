import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { ThreadBinding } from "../../../src/core/model/threads/thread.ts";
import { UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import { aChange, anInboxEvent, aReply, aThread } from "../../support/run-builders.ts";
import { aBoundThread, aStoredRun, type StorageHarness } from "./harness.ts";

export function describeThreads(harness: () => StorageHarness): void {
  describe("a thread", () => {
    test("a thread is found only by its complete address", async () => {
      const { threads } = harness().storage;
      const thread = await aBoundThread(harness(), await aStoredRun(harness()));

      expect(await threads.find(thread)).toMatchObject({ id: thread.id });
      expect(await threads.find({ ...thread, installation: "elsewhere" })).toBeUndefined();
      expect(await threads.find({ ...thread, adapter: "other" })).toBeUndefined();
      expect(await threads.find(aThread())).toBeUndefined();
    });

    test("a thread without a run can be bound", async () => {
      const { inbox, threads } = harness().storage;
      const event = anInboxEvent();
      const thread = aThread();
      await inbox.put(event);
      await inbox.complete(
        { inboxId: event.id, disposition: "replied" },
        { thread, notices: [aReply("Hi")] },
      );
      expect(await threads.find(thread)).toEqual(stored(thread));
      const run = await aStoredRun(harness());

      await bind(harness(), run, { thread, expected: undefined });

      expect(await threads.find(thread)).toEqual({ ...stored(thread), runId: run.id });
    });

    test("the verbosity of a thread is stored", async () => {
      const { threads } = harness().storage;
      const thread = await aBoundThread(harness(), await aStoredRun(harness()));
      await threads.setVerbosity(thread.id, "quiet");

      expect(await threads.findById(thread.id)).toMatchObject({ ...thread, verbosity: "quiet" });
      expect(await threads.find(thread)).toMatchObject({ verbosity: "quiet" });
      expect(await threads.findById(randomUUID())).toBeUndefined();
    });

    test("a thread keeps who takes part in its current run, and whether a mention is needed", async () => {
      const { threads } = harness().storage;
      const thread = aThread();
      const [first, second] = [await aStoredRun(harness()), await aStoredRun(harness())];
      await bind(harness(), first, { thread, participants: ["a:1", "a:2"], expected: undefined });
      await threads.addParticipants(thread.id, ["a:2", "a:3"]);
      await threads.setNeedsMention(thread.id, true);
      expect(await threads.findById(thread.id)).toMatchObject({
        participants: ["a:1", "a:2", "a:3"],
        needsMention: true,
      });

      await bind(harness(), second, { thread, participants: ["a:4"], expected: first.id });

      expect(await threads.findById(thread.id)).toMatchObject({ participants: ["a:4"], needsMention: true });
    });

    test("a thread without a card shows one from a change on, or when another run is bound to it", async () => {
      const { threads } = harness().storage;
      const [own, other] = [aThread(), aThread()];
      const run = await aStoredRun(harness());
      for (const thread of [own, other]) {
        await bind(harness(), run, { thread, expected: undefined, showsCard: false });
        expect(await threads.findById(thread.id)).toMatchObject({ showsCard: false });
      }

      await harness().storage.runs.change(run.id, (aggregate) =>
        aChange(aggregate.run, { cardsFromNow: [own.id] }),
      );

      expect(await threads.findById(own.id)).toMatchObject({ showsCard: true });
      expect(await threads.findById(other.id)).toMatchObject({ showsCard: false });
      await bind(harness(), await aStoredRun(harness()), { thread: other, expected: run.id });
      expect(await threads.findById(other.id)).toMatchObject({ showsCard: true });
    });

    test("a run whose card a thread did not show gets none there when the thread belongs to another run", async () => {
      const { runs } = harness().storage;
      const [own, shown] = [aThread(), aThread()];
      const [first, second] = [await aStoredRun(harness()), await aStoredRun(harness())];
      await bind(harness(), first, { thread: own, expected: undefined, showsCard: false });
      await bind(harness(), first, { thread: shown, expected: undefined });
      const cardsOf = async (run: Run) => {
        const { threads } = await runs.getAggregate(run.id);
        return Object.fromEntries(threads.map(({ id, showsCard }) => [id, showsCard]));
      };
      expect(await cardsOf(first)).toEqual({ [own.id]: false, [shown.id]: true });

      for (const thread of [own, shown]) {
        await bind(harness(), second, { thread, expected: first.id });
      }

      expect(await cardsOf(first)).toEqual({ [own.id]: false, [shown.id]: true });
      expect(await cardsOf(second)).toEqual({ [own.id]: true, [shown.id]: true });
      await runs.change(first.id, ({ run }) => aChange(run, { cardsFromNow: [own.id] }));
      expect(await cardsOf(first)).toEqual({ [own.id]: true, [shown.id]: true });
    });

    test("a decision about a run gets its threads with their verbosity", async () => {
      const run = await aStoredRun(harness());
      const { id } = await aBoundThread(harness(), run);
      await harness().storage.threads.setVerbosity(id, "quiet");
      const seen: unknown[] = [];

      await harness().storage.runs.change(run.id, ({ threads }) => {
        seen.push(...threads);
        return undefined;
      });

      expect(seen).toMatchObject([{ id, verbosity: "quiet" }]);
    });

    test("a thread can be bound to a new run if the expected run is the current one", async () => {
      const { threads } = harness().storage;
      const [old, next] = [await aStoredRun(harness()), await aStoredRun(harness())];
      const thread = await aBoundThread(harness(), old);

      await bind(harness(), next, { thread, expected: old.id });

      const bound = { ...stored(thread), runId: next.id };
      expect(await threads.find(thread)).toEqual(bound);
      expect(await threads.listOf(next.id)).toEqual([bound]);
      // The old run still posts its end there.
      expect(await threads.listOf(old.id)).toEqual([bound]);
    });

    test("binding a thread is refused if another run, or none, is expected", async () => {
      const [first, second] = [await aStoredRun(harness()), await aStoredRun(harness())];
      const thread = await aBoundThread(harness(), first);
      const wrong = [undefined, second.id] as const;

      for (const expected of wrong) {
        const binding = bind(harness(), second, { thread, expected });
        await expect(binding).rejects.toEqual(new UniqueConflict("thread"));
      }

      expect(await harness().storage.threads.find(thread)).toMatchObject({ ...thread, runId: first.id });
    });

    test("of many new runs that bind one thread concurrently one is stored", async () => {
      const address = aThread();
      const create = () => {
        const binding = { thread: { ...address, id: randomUUID() }, expected: undefined };
        return aStoredRun(harness(), { prompt: address.key }, { binding });
      };

      const created = await Promise.allSettled(Array.from({ length: 8 }, create));

      const runs = created.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const refusals = created.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(refusals).toEqual(Array.from({ length: 7 }, () => new UniqueConflict("thread")));
      expect(await harness().storage.threads.find(address)).toMatchObject({ runId: runs[0]?.id });
      expect(await countOf(harness(), address.key)).toBe(1);
    });

    test("of many concurrent rebindings of a thread one succeeds", async () => {
      const old = await aStoredRun(harness());
      const thread = await aBoundThread(harness(), old);
      const create = () => aStoredRun(harness(), {}, { binding: { thread, expected: old.id } });

      const created = await Promise.allSettled(Array.from({ length: 8 }, create));

      expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });
  });
}

async function bind({ storage }: StorageHarness, run: Run, binding: ThreadBinding): Promise<Run> {
  return storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { binding }));
}

async function countOf({ storage }: StorageHarness, text: string): Promise<number> {
  const viewer = { id: randomUUID() as Run["creatorId"], teamId: FIRST_TEAM, administrator: true };
  const query = { viewer, filters: { text }, sort: "created_at", order: "asc", limit: 20 } as const;
  return (await storage.runs.list(query)).runs.length;
}

function stored(thread: ThreadBinding["thread"]): object {
  return {
    ...thread,
    verbosity: "normal",
    participants: [],
    needsMention: false,
    showsCard: true,
    createdAt: expect.any(Date),
  };
}
