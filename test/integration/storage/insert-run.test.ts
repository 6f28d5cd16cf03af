import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Taken } from "../../../src/core/ports/storage.ts";
import type { Run } from "../../../src/core/runs/run.ts";
import type { RunChange } from "../../../src/core/runs/run-change.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { systemClock } from "../../../src/system-clock.ts";
import { openPgBoss } from "../../contract/pg-boss-bench.ts";
import { aChange, anOrigin, aReply, aRun, aThread } from "../../support/run-builders.ts";

const COUNTS = `
  SELECT (SELECT count(*)::int FROM runs) AS runs, (SELECT count(*)::int FROM run_events) AS events,
    (SELECT count(*)::int FROM run_texts) AS texts, (SELECT count(*)::int FROM remembered_answers) AS answers,
    (SELECT count(*)::int FROM pgboss.job) AS jobs`;

describe("a new run on the real queue", () => {
  let queue: Awaited<ReturnType<typeof openPgBoss>>;
  let storage: ReturnType<typeof createPrismaStorage>;
  beforeAll(async () => {
    queue = await openPgBoss();
    const { sendJobs } = queue.queue;
    const news = { tell: () => undefined, on: () => () => undefined };
    storage = createPrismaStorage({ database: queue.database, news, clock: systemClock, sendJobs });
  });
  afterAll(() => queue.close());

  const counts = async () => (await queue.database.rows({ text: COUNTS, values: [] }))[0];

  async function aNewRun(key: string, change: Partial<RunChange> = {}) {
    const person = await storage.people.ensure(anOrigin().teamId, "memory:ada", "Ada");
    const run: Run = aRun(anOrigin({ creatorId: person.id }));
    const events = [{ turn: 0, body: { kind: "run.created", state: "QUEUED" } as const }];
    const answer = {
      principalId: person.id,
      key,
      requestHash: "hash",
      status: 200,
      body: { run_id: run.id },
    };
    return { run, change: aChange(run, { events, answer, jobs: [{ kind: "run", key: run.id }], ...change }) };
  }

  it("is there with its event, words, answer and job, or nothing of it is", async () => {
    const before = await counts();
    const first = await aNewRun("once");
    const second = await aNewRun("once");

    await storage.runs.create(first.run, first.change);
    await expect(storage.runs.create(second.run, second.change)).rejects.toEqual(new Taken("answer"));

    expect(before).toEqual({ runs: 0, events: 0, texts: 0, answers: 0, jobs: 0 });
    expect(await counts()).toEqual({ runs: 1, events: 1, texts: 1, answers: 1, jobs: 1 });
    expect(await storage.runs.find({ id: first.run.id })).toMatchObject({ id: first.run.id, lastSeq: 1 });
  });

  it("of twenty at once with one key is one", async () => {
    const before = await counts();
    const twins = await Promise.all(Array.from({ length: 20 }, () => aNewRun("twenty")));

    const made = await Promise.allSettled(twins.map(({ run, change }) => storage.runs.create(run, change)));

    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const added = Object.entries((await counts()) ?? {}).map(([name, count]) => [name, Number(count) - 1]);
    expect(Object.fromEntries(added)).toEqual(before);
  });

  it("leaves nothing when what it is bound to is taken", async () => {
    const thread = aThread();
    const binding = { thread, expected: undefined };
    const notices = [{ threadId: thread.id, notice: aReply("Hello") }];
    const bound = await aNewRun("bound", { binding, notices });
    await storage.runs.create(bound.run, bound.change);
    const before = await counts();

    const late = await aNewRun("late", { binding, notices });
    await expect(storage.runs.create(late.run, late.change)).rejects.toEqual(new Taken("thread"));

    expect(await counts()).toEqual(before);
  });

  it("within a transaction is a part of it", async () => {
    const before = await counts();
    const { run, change } = await aNewRun("within");

    const failing = storage.atomically(async (stores) => {
      await stores.runs.create(run, change);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");

    expect(await counts()).toEqual(before);
  });
});
