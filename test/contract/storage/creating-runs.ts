import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { RunDefinition } from "../../../src/core/model/runs/run.ts";
import { UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import {
  aChange,
  aFollowUp,
  anInboxEvent,
  anOrigin,
  aReply,
  aRun,
  aThread,
} from "../../support/run-builders.ts";
import { aPerson, aStoredRun, type StorageHarness } from "./harness.ts";

export function describeCreatingRuns(harness: () => StorageHarness): void {
  describe("creating a run", () => {
    test("a created run is returned as stored, and found by its id and by its session", async () => {
      const { storage } = harness();
      const origin = { ...fullOrigin(), creatorId: (await aPerson(harness())).id };

      const run = await aStoredRun(harness(), origin);

      const expected = { ...origin, state: "QUEUED", turn: 0, updatedAt: origin.createdAt, lastSeq: 1 };
      expect(run).toMatchObject(expected);
      expect(await storage.runs.find({ id: run.id })).toEqual(run);
      expect(await storage.runs.find({ sessionId: run.sessionId })).toEqual(run);
    });

    test("absent members of the request stay absent", async () => {
      const run = await aStoredRun(harness());

      const absent = [
        "context",
        "mode",
        "skill",
        "skillSnapshot",
        "skillSnapshots",
        "othersWrote",
        "earlyFollowUps",
        "triggerUrl",
        "lease",
        "startedAt",
        "endedAt",
        "permission",
      ];
      for (const member of absent) {
        expect(run).not.toHaveProperty(member);
      }
    });

    test("a run with another id is not found", async () => {
      const { runs } = harness().storage;

      expect(await runs.find({ id: randomUUID() as RunId })).toBeUndefined();
      expect(await runs.find({ sessionId: randomUUID() })).toBeUndefined();
    });

    test("jobs, events and deliveries are stored together with the run", async () => {
      const { jobs, pubsub, storage } = harness();
      const event = anInboxEvent();
      await storage.inbox.put(event);
      const { run, thread, change } = await aRunWithAll(harness(), event.id);

      await storage.runs.create(run, change);

      expect(await storage.threads.find(thread)).toMatchObject({ ...thread, runId: run.id });
      expect(await storage.threads.listOf(run.id)).toMatchObject([{ ...thread, runId: run.id }]);
      expect(await storage.outbox.take(thread.id)).toMatchObject({ notice: aReply("Hello") });
      expect(await storage.inbox.next(event.orderingKey)).toBeUndefined();
      expect(await storage.idempotentResponses.find(run.creatorId, "key")).toEqual(change.idempotentResponse);
      expect(jobs).toContainEqual({ kind: "deliver", key: thread.id });
      expect(pubsub).toEqual(expect.arrayContaining([`run:${run.id}`, "jobs:run"]));
    });

    test.each(["thread", "dedupeKey", "idempotencyKey"] as const)(
      "nothing is stored if the %s is taken",
      async (what) => {
        const { storage } = harness();
        const event = anInboxEvent();
        await storage.inbox.put(event);
        const { run, thread, change } = await aRunWithAll(harness(), event.id);
        await take[what](harness(), change);

        const creating = storage.runs.create(run, change);

        await expect(creating).rejects.toEqual(new UniqueConflict(what));
        await expectNothing(harness(), run.id, thread.id);
        expect(await storage.inbox.next(event.orderingKey)).toMatchObject({ id: event.id });
      },
    );

    test("nothing is stored if the job cannot be stored", async () => {
      const { storage } = harness();
      const event = anInboxEvent();
      await storage.inbox.put(event);
      const { run, thread, change } = await aRunWithAll(harness(), event.id);
      harness().failJobs();

      await expect(storage.runs.create(run, change)).rejects.toThrow("no jobs today");

      await expectNothing(harness(), run.id, thread.id);
    });
  });
}

const SKILL = {
  name: "a",
  description: "Does a.",
  repository: { owner: "owner", name: "repo" },
  path: "a/SKILL.md",
  commit: "0".repeat(40),
  basePrompt: "Do a.",
};

function fullOrigin(): RunDefinition {
  return anOrigin({
    context: "An issue\nwith `ticks`",
    mode: "plan",
    source: "GITHUB_WEBHOOK",
    teamOwned: false,
    config: { name: "nightly", harness: { type: "demo" }, custom: { deep: [1, null, "x"] } },
    metadata: { ticket: "E-1", "a.b": "=" },
    skill: "owner/repo:a/SKILL.md",
    skillSnapshot: SKILL,
    skillSnapshots: [SKILL, { ...SKILL, path: "b/SKILL.md" }],
    triggerUrl: "https://example.test/1",
    ancestorIds: [randomUUID() as RunId, randomUUID() as RunId],
    provenance: { actor: { id: 1 } },
  });
}

async function aRunWithAll(harness: StorageHarness, inboxId: string) {
  const creatorId = (await aPerson(harness)).id;
  const run = aRun(anOrigin({ creatorId }));
  const thread = aThread();
  const change = aChange(run, {
    events: [{ turn: 0, body: { kind: "run.created", state: "QUEUED" } }],
    followUps: [aFollowUp(run)],
    binding: { thread, expected: undefined },
    notices: [{ threadId: thread.id, notice: aReply("Hello") }],
    inboxResult: { inboxId, disposition: "run_created", dedupeKey: randomUUID(), runId: run.id },
    idempotentResponse: {
      principalId: creatorId,
      key: "key",
      status: 200,
      requestHash: "hash",
      body: { run_id: run.id },
    },
    isClaimable: true,
    jobs: [{ kind: "deliver", key: thread.id }],
  });
  return { run, thread, change };
}

type All = Awaited<ReturnType<typeof aRunWithAll>>["change"];

/** Another transaction that takes the same key first. */
const take = {
  async thread(harness: StorageHarness, { binding }: All) {
    if (binding === undefined) {
      return;
    }
    const thread = { ...binding.thread, id: randomUUID() };
    await aStoredRun(harness, {}, { binding: { thread, expected: undefined } });
  },
  async dedupeKey({ storage }: StorageHarness, { inboxResult: result }: All) {
    if (result === undefined) {
      return;
    }
    const event = anInboxEvent();
    await storage.inbox.put(event);
    await storage.inbox.complete({ ...result, inboxId: event.id });
  },
  async idempotencyKey(harness: StorageHarness, { idempotentResponse: answer }: All) {
    await aStoredRun(harness, {}, { idempotentResponse: answer });
  },
};

async function expectNothing({ storage }: StorageHarness, runId: RunId, threadId: string): Promise<void> {
  expect(await storage.runs.find({ id: runId })).toBeUndefined();
  expect(await storage.runs.readEvents(runId, 0, 10)).toEqual([]);
  expect(await storage.threads.listOf(runId)).toEqual([]);
  expect(await storage.outbox.take(threadId)).toBeUndefined();
}
