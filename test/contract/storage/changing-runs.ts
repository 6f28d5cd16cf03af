import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PrincipalId, RunId } from "../../../src/core/basics/ids.ts";
import type { RunEventBody } from "../../../src/core/model/runs/events.ts";
import type { Run, RunProgress } from "../../../src/core/model/runs/run.ts";
import { CHANNELS } from "../../../src/core/ports/pubsub.ts";
import type { RunChange } from "../../../src/core/ports/stores/run-change.ts";
import type { RunAggregate, RunStore } from "../../../src/core/ports/stores/run-store.ts";
import { EVENTS_LENGTH_MAX, eventPages } from "../../../src/core/runs/event-pages.ts";
import { aChange, aFollowUp, anApproval, aThread } from "../../support/run-builders.ts";
import { aBoundThread, aStoredRun, type StorageHarness } from "./harness.ts";

export function describeChangingRuns(harness: () => StorageHarness): void {
  describe("changing a run", () => {
    test("the progress of a run is stored and returned", async () => {
      const { clock, storage } = harness();
      const run = await aStoredRun(harness());
      await clock.advance(1_000);

      const changed = await storage.runs.change(run.id, (aggregate) =>
        aChange({ ...aggregate.run, ...PROGRESS }, { events: [noteOf("a")] }),
      );

      expect(changed).toMatchObject({ ...PROGRESS, updatedAt: clock.now(), createdAt: run.createdAt });
      expect(await storage.runs.find({ id: run.id })).toEqual(changed);
    });

    test("updated_at changes only together with an event", async () => {
      const { clock, storage } = harness();
      const run = await aStoredRun(harness());
      await clock.advance(1_000);

      const written = await storage.runs.change(run.id, (aggregate) =>
        aChange({ ...aggregate.run, lastWrite: randomUUID() }),
      );

      expect(written.updatedAt).toEqual(run.updatedAt);
    });

    test("an undefined member is removed", async () => {
      const { storage } = harness();
      const run = await aStoredRun(harness());
      await storage.runs.change(run.id, (aggregate) => aChange({ ...aggregate.run, ...PROGRESS }));
      const gone = { statusMessage: undefined, permission: undefined, answer: undefined, endedAt: undefined };

      const changed = await storage.runs.change(run.id, (aggregate) =>
        aChange({ ...aggregate.run, ...gone }),
      );

      for (const member of Object.keys(gone)) {
        expect(changed).not.toHaveProperty(member);
      }
    });

    test("a decision without a change stores nothing", async () => {
      const { clock, pubsub, storage } = harness();
      const run = await aStoredRun(harness());
      await clock.advance(1_000);
      pubsub.length = 0;

      const same = await storage.runs.change(run.id, () => undefined);

      expect(same).toEqual(run);
      expect(await storage.runs.find({ id: run.id })).toEqual(run);
      expect(pubsub).toEqual([]);
    });

    describe("by the attempt that works on it", () => {
      test("what the change returns is what a read returns, or the next change must read", async () => {
        const { storage } = harness();
        const stored = await aStoredRun(harness());
        const { id } = stored;
        const followUp = aFollowUp(stored);
        const thread = aThread();
        const changes: ((aggregate: RunAggregate) => RunChange)[] = [
          (aggregate) => noting(aggregate, "first"),
          (aggregate) => noting(aggregate, "second"),
          ({ run }) => aChange({ ...run, state: "BLOCKED", stateSince: new Date(5) }),
          (aggregate) => noting(aggregate, "third", { followUps: [followUp] }),
          (aggregate) => noting(aggregate, "fourth"),
          ({ run }) => aChange({ ...run, turn: 1 }, { takenFollowUps: { ids: [followUp.id], turn: 1 } }),
          (aggregate) => noting(aggregate, "fifth"),
          ({ run }) => aChange({ ...run, turn: 2 }),
          (aggregate) => noting(aggregate, "sixth", { details: { title: "Another" } }),
          (aggregate) => noting(aggregate, "seventh"),
          (aggregate) => noting(aggregate, "eighth", { binding: { thread, expected: undefined } }),
          (aggregate) => noting(aggregate, "ninth"),
        ];
        let known: RunAggregate | undefined;
        let kept = 0;
        for (const decide of changes) {
          const { next, run } = await storage.runs.changeOwn(id, decide, known);
          expect(run).toEqual(await storage.runs.find({ id }));
          expect(next ?? (await storage.runs.getAggregate(id))).toEqual(await storage.runs.getAggregate(id));
          kept += next === undefined ? 0 : 1;
          known = next;
        }
        expect(kept).toBeGreaterThan(5);
      });

      test("it decides with what it knows while nobody else has changed the run", async () => {
        const { storage } = harness();
        const { id } = await aStoredRun(harness());
        const { next } = await storage.runs.changeOwn(id, (each) => noting(each, "a"), undefined);

        const seen: RunAggregate[] = [];
        await storage.runs.changeOwn(id, (each) => noting(seen[seen.push(each) - 1] ?? each, "b"), next);

        expect(seen).toHaveLength(1);
        expect(seen[0]).toBe(next);
      });

      test.each<[string, (aggregate: RunAggregate) => RunChange | undefined]>([
        ["stores", (each) => noting(each, "c")],
        ["decides that nothing is to be done", ({ run }) => (run.lastSeq < 3 ? undefined : aChange(run))],
        [
          "refuses",
          (each) => {
            if (each.run.lastSeq < 3) {
              throw new Error("too early");
            }
            return noting(each, "c");
          },
        ],
      ])(
        "an attempt that %s on what it knew decides again after the change of another one",
        async (_what, decide) => {
          const { storage } = harness();
          const { id, lastSeq } = await aStoredRun(harness());
          const { next } = await storage.runs.changeOwn(id, (each) => noting(each, "a"), undefined);
          await storage.runs.change(id, (each) => noting(each, "b"));
          expect((await storage.runs.find({ id }))?.lastSeq).toBe(lastSeq + 2);
          const seen: number[] = [];

          const { run } = await storage.runs.changeOwn(
            id,
            (each) => {
              seen.push(each.run.lastSeq);
              return decide(each);
            },
            next,
          );

          expect(seen.at(-1)).toBe(lastSeq + 2);
          expect(run).toEqual(await storage.runs.find({ id }));
        },
      );

      test("only changes of others notify it", async () => {
        const { pubsub, storage } = harness();
        const { id } = await aStoredRun(harness());
        pubsub.length = 0;

        await storage.runs.changeOwn(id, (each) => noting(each, "a"), undefined);
        expect(pubsub).toEqual([CHANNELS.run(id), CHANNELS.log]);
        await storage.runs.change(id, (each) => noting(each, "b"));
        expect(pubsub.slice(2).toSorted()).toEqual([CHANNELS.attempt(id), CHANNELS.log, CHANNELS.run(id)]);
      });
    });

    test("a decision that throws stores nothing, and its error is passed on", async () => {
      const { storage } = harness();
      const run = await aStoredRun(harness());
      const refusal = new Error("no");

      const changing = storage.runs.change(run.id, () => {
        throw refusal;
      });

      await expect(changing).rejects.toBe(refusal);
      expect(await storage.runs.find({ id: run.id })).toEqual(run);
    });

    test("a change whose job cannot be stored stores nothing", async () => {
      const { storage } = harness();
      const run = await aStoredRun(harness());
      harness().failJobs();
      const jobs = [{ kind: "deliver", key: randomUUID() }] as const;

      const changing = storage.runs.change(run.id, (aggregate) => noting(aggregate, "lost", { jobs }));

      await expect(changing).rejects.toThrow("no jobs today");
      expect(await storage.runs.find({ id: run.id })).toEqual(run);
      expect(await storage.runs.readEvents(run.id, 1, 10)).toEqual([]);
    });

    test("a run with an unknown id is not changed", async () => {
      const { runs } = harness().storage;
      const id = randomUUID() as RunId;

      await expect(runs.change(id, () => undefined)).rejects.toMatchObject({ code: "resource_not_found" });
      await expect(runs.getAggregate(id)).rejects.toMatchObject({ code: "resource_not_found" });
    });

    test("concurrent changes of a run leave no sequence number out and use none twice", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const note = (index: number) => runs.change(run.id, (aggregate) => noting(aggregate, String(index)));

      const changed = await Promise.all(Array.from({ length: 20 }, (_, index) => note(index)));

      const events = await runs.readEvents(run.id, 0, 100);
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
      expect(new Set(events.map(({ body }) => titleOf(body))).size).toBe(21);
      expect(changed.map(({ lastSeq }) => lastSeq).sort((a, b) => a - b)).toEqual(seqsFrom(2, 21));
    });

    test("each decision sees the state that the previous one stored", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const cancel = () =>
        seenWhenStored(runs, run.id, (aggregate) => ({
          seen: aggregate.run.state,
          change: aChange({ ...aggregate.run, state: "CANCELLED" }),
        }));

      const seen = await Promise.all([cancel(), cancel(), cancel()]);

      expect(seen.sort()).toEqual(["CANCELLED", "CANCELLED", "QUEUED"]);
    });
  });

  describe("the events of a run", () => {
    test("events are read in order after a sequence number, page by page", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      await runs.change(run.id, ({ run: now }) => aChange(now, { events: ["a", "b", "c"].map(noteOf) }));

      const page = await runs.readEvents(run.id, 1, 2);

      expect(page).toMatchObject([
        { runId: run.id, seq: 2, turn: 3, body: { kind: "agent.title", title: "a" } },
        { runId: run.id, seq: 3, turn: 3, body: { kind: "agent.title", title: "b" } },
      ]);
      expect(page[0]?.at).toBeInstanceOf(Date);
      expect(await runs.readEvents(run.id, 4, 2)).toEqual([]);
      expect(await runs.readEvents(randomUUID() as RunId, 0, 2)).toEqual([]);
    });

    test("a page of events ends where they become too long, but has at least one", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const lengths = [EVENTS_LENGTH_MAX / 2, EVENTS_LENGTH_MAX / 2, 1, 2 * EVENTS_LENGTH_MAX, 1];
      const events = lengths.map((length) => noteOf("x".repeat(length)));
      await runs.change(run.id, ({ run: now }) => aChange(now, { events }));
      const seqsBehind = async (seq: number) =>
        (await runs.readEvents(run.id, seq, 10)).map((event) => event.seq);

      expect(await seqsBehind(0)).toEqual([1, 2, 3]);
      expect(await seqsBehind(3)).toEqual([4, 5]);
      expect(await seqsBehind(4)).toEqual([5]);
      expect(await seqsBehind(5)).toEqual([6]);
    });

    test("every event is read, however long the pages are", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const events = ["a", "x".repeat(EVENTS_LENGTH_MAX), "b", "x".repeat(EVENTS_LENGTH_MAX), "c"].map(
        noteOf,
      );
      const { id } = await runs.change(run.id, ({ run: now }) => aChange(now, { events }));
      const told: number[] = [];

      for await (const page of eventPages(runs, { id, lastSeq: 5, after: 1 })) {
        told.push(...page.map(({ seq }) => seq));
      }

      expect(told).toEqual([2, 3, 4, 5]);
    });

    test("events preserve every kind of JSON", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const data = {
        empty: "",
        nothing: null,
        deep: [[{ a: [] }]],
        number: 1.5,
        text: "\\u0000 \u{1F600} \"'",
      };
      const body = { kind: "agent.other", name: "x", data } as const;

      await runs.change(run.id, ({ run: now }) => aChange(now, { events: [{ turn: 0, body }] }));

      expect((await runs.readEvents(run.id, 1, 1))[0]?.body).toEqual(body);
    });
  });

  describe("the follow-ups of a run", () => {
    test("new follow-ups are numbered after the earlier ones and wait", async () => {
      const run = await aStoredRun(harness());
      await hold(harness(), run, ["one"]);
      await hold(harness(), run, ["two", "three"]);

      const { waiting, taken } = await harness().storage.runs.getAggregate(run.id);

      expect(waiting.map(({ seq, message }) => [seq, message])).toEqual([
        [1, "one"],
        [2, "two"],
        [3, "three"],
      ]);
      expect(waiting[0]).not.toHaveProperty("turn");
      expect(waiting[0]).not.toHaveProperty("mode");
      expect(taken).toEqual([]);
    });

    test("concurrent follow-ups are numbered without a gap", async () => {
      const run = await aStoredRun(harness());

      await Promise.all(Array.from({ length: 10 }, (_, index) => hold(harness(), run, [String(index)])));

      expect((await harness().storage.runs.getAggregate(run.id)).waiting.map(({ seq }) => seq)).toEqual(
        seqsFrom(1, 10),
      );
    });

    test("a decision sees all follow-ups, including those that arrived while it waited for the run", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      const add = () =>
        seenWhenStored(runs, run.id, ({ run: now, waiting }) => ({
          seen: waiting.length,
          change: aChange(now, { followUps: [aFollowUp(now)] }),
        }));

      const seen = await Promise.all(Array.from({ length: 10 }, add));

      expect(seen.sort((a, b) => a - b)).toEqual(seqsFrom(0, 9));
    });

    test("a follow-up that a turn took no longer waits", async () => {
      const { runs } = harness().storage;
      const run = await aStoredRun(harness());
      await hold(harness(), run, ["one", "two", "three"]);
      const first = (await harness().storage.runs.getAggregate(run.id)).waiting
        .slice(0, 2)
        .map(({ id }) => id);

      await runs.change(run.id, ({ run: now }) =>
        aChange({ ...now, turn: 1 }, { takenFollowUps: { turn: 1, ids: first } }),
      );

      const { waiting, taken } = await harness().storage.runs.getAggregate(run.id);
      expect(waiting.map(({ message }) => message)).toEqual(["three"]);
      expect(taken.map(({ message, turn }) => [message, turn])).toEqual([
        ["one", 1],
        ["two", 1],
      ]);
      await runs.change(run.id, ({ run: now }) => aChange({ ...now, turn: 2 }));
      expect((await harness().storage.runs.getAggregate(run.id)).taken).toEqual([]);
    });
  });

  test("a decision sees the threads whose current run it changes", async () => {
    const run = await aStoredRun(harness());
    const thread = await aBoundThread(harness(), run);

    expect((await harness().storage.runs.getAggregate(run.id)).threads).toMatchObject([
      { ...thread, runId: run.id },
    ]);
  });
}

const PROGRESS: RunProgress = {
  state: "BLOCKED",
  stateSince: new Date("2026-03-01T12:00:00.000Z"),
  statusMessage: { message: "Waits", errorCode: "conflict", retryable: true },
  startedAt: new Date("2026-03-01T12:00:01.000Z"),
  endedAt: new Date("2026-03-01T12:00:02.000Z"),
  turn: 2,
  turnOpen: true,
  attempt: 3,
  lostAttempts: 1,
  agentSession: "session",
  checkpoint: "checkpoint",
  workCheckpoint: "work",
  checkpointDelta: "delta",
  checkpointAt: new Date("2026-01-01T12:00:00.000Z"),
  permission: {
    permissionId: "p",
    title: "May I?",
    options: [],
    askedAt: new Date("2026-03-01T12:00:00.000Z"),
    answer: "yes",
  },
  lastWrite: "019cb000-0000-7000-8000-000000000000",
  totalTokens: 1_234,
  costUsd: 0.25,
  approval: anApproval({
    reason: "Costly",
    approved: true,
    decidedBy: "019cb000-0000-7000-8000-000000000001" as PrincipalId,
    decidedAt: new Date("2026-03-01T12:00:00.000Z"),
  }),
  waitingFollowUp: {
    followUpId: "f",
    reason: "Costly",
    authorIds: [],
    since: new Date("2026-03-01T12:00:00.000Z"),
  },
  answer: "Done",
};

/** Returns what the decision saw in the call whose change was stored, which is the last one. */
async function seenWhenStored<T>(
  runs: RunStore,
  id: RunId,
  decide: (aggregate: RunAggregate) => { readonly seen: T; readonly change: RunChange },
): Promise<T> {
  let last: { readonly seen: T } | undefined;
  await runs.change(id, (aggregate) => {
    const decided = decide(aggregate);
    last = decided;
    return decided.change;
  });
  if (last === undefined) {
    throw new Error("The store has not called the decision.");
  }
  return last.seen;
}

function noteOf(title: string): RunChange["events"][number] {
  return { turn: 3, body: { kind: "agent.title", title } };
}

function noting({ run }: RunAggregate, title: string, changes: Partial<RunChange> = {}): RunChange {
  return aChange(run, { events: [noteOf(title)], ...changes });
}

function titleOf(body: RunEventBody): string {
  return body.kind === "agent.title" ? body.title : body.kind;
}

function seqsFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

async function hold({ storage }: StorageHarness, run: Run, messages: readonly string[]): Promise<void> {
  const followUps = messages.map((message) => aFollowUp(run, { message }));
  await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps }));
}
