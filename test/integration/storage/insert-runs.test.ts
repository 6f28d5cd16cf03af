import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { AppError } from "../../../src/core/basics/errors.ts";
import { newId, type PrincipalId } from "../../../src/core/basics/ids.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { RunChange } from "../../../src/core/ports/stores/run-change.ts";
import { UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import { insertsOf } from "../../../src/storage/insert-runs.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { JOB_INSERT } from "../../../src/storage/queue/queue-settings.ts";
import { openPgBoss } from "../../contract/pg-boss-harness.ts";
import { aChange, anOrigin, aReply, aRun, aThread } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";

const COUNTS = `
  SELECT (SELECT count(*)::int FROM runs) AS runs, (SELECT count(*)::int FROM run_events) AS events,
    (SELECT count(*)::int FROM run_search_texts) AS texts, (SELECT count(*)::int FROM idempotent_responses) AS answers,
    (SELECT count(*)::int FROM pgboss.job) AS jobs`;

describe("a new run on the real queue", () => {
  let queue: Awaited<ReturnType<typeof openPgBoss>>;
  let storage: ReturnType<typeof createPrismaStorage>;
  beforeAll(async () => {
    queue = await openPgBoss();
    storage = createPrismaStorage({
      database: queue.database,
      pubsub: SILENT_PUBSUB,
      clock: systemClock,
      jobInsert: JOB_INSERT,
    });
  });
  afterAll(() => queue.close());

  async function counts(): Promise<Record<"runs" | "events" | "texts" | "answers" | "jobs", number>> {
    const [counted] = await queue.database.rows<Awaited<ReturnType<typeof counts>>>({
      text: COUNTS,
      values: [],
    });
    if (counted === undefined) {
      throw new Error("Nothing was counted.");
    }
    return counted;
  }

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
    return {
      run,
      change: aChange(run, {
        events,
        idempotentResponse: answer,
        jobs: [{ kind: "deliver", key: run.id }],
        ...change,
      }),
    };
  }

  const rowsOf = ({ run, change }: Awaited<ReturnType<typeof aNewRun>>) => ({
    origin: run,
    change,
    jobs: JOB_INSERT.rowsOf(change.jobs),
  });

  test("a new run is stored with its event, texts, answer and job, or not at all", async () => {
    const before = await counts();
    const first = await aNewRun("once");
    const second = await aNewRun("once");

    await storage.runs.create(first.run, first.change);
    await expect(storage.runs.create(second.run, second.change)).rejects.toEqual(
      new UniqueConflict("idempotencyKey"),
    );

    expect(before).toEqual({ runs: 0, events: 0, texts: 0, answers: 0, jobs: 0 });
    expect(await counts()).toEqual({ runs: 1, events: 1, texts: 1, answers: 1, jobs: 1 });
    expect(await storage.runs.find({ id: first.run.id })).toMatchObject({ id: first.run.id, lastSeq: 1 });
  });

  test("twenty concurrent creates with one key store one run", async () => {
    const before = await counts();
    const twins = await Promise.all(Array.from({ length: 20 }, () => aNewRun("twenty")));

    const made = await Promise.allSettled(twins.map(({ run, change }) => storage.runs.create(run, change)));

    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const added = Object.entries(await counts()).map(([name, count]) => [name, Number(count) - 1]);
    expect(Object.fromEntries(added)).toEqual(before);
  });

  test("concurrent creates are stored in one batch, each with its own event, answer and job", async () => {
    const before = await counts();
    const runs = await Promise.all(Array.from({ length: 40 }, (_, index) => aNewRun(`together ${index}`)));
    let statements = 0;
    const rows: typeof queue.database.rows = (statement) => {
      statements += 1;
      return queue.database.rows(statement);
    };
    const inserts = insertsOf({ rows }, JOB_INSERT.sql);

    const made = await Promise.all(runs.map((each) => inserts.do(rowsOf(each))));

    expect(made).toEqual(runs.map(() => true));
    expect(statements).toBeLessThan(6);
    const added = Object.entries(await counts()).map(([name, count]) => [name, Number(count) - 40]);
    expect(Object.fromEntries(added)).toEqual(before);
    for (const { run } of runs) {
      expect(await storage.runs.find({ id: run.id })).toMatchObject({ lastSeq: 1 });
    }
  });

  test("a create does not fail because another one of its batch fails", async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, (_, index) => aNewRun(`company ${index}`)));
    const broken = runs.map((each, index) =>
      index === 5 ? { ...each, run: { ...each.run, creatorId: newId<PrincipalId>(new Date()) } } : each,
    );
    const inserts = insertsOf({ rows: (statement) => queue.database.rows(statement) }, JOB_INSERT.sql);

    const made = await Promise.allSettled(broken.map((each) => inserts.do(rowsOf(each))));

    expect(made.map(({ status }) => status === "fulfilled")).toEqual(runs.map((_, index) => index !== 5));
  });

  test("a create is stored once and succeeds if the answer to its batch is late", async () => {
    const before = await counts();
    const runs = await Promise.all(
      Array.from({ length: 8 }, () => aNewRun("", { idempotentResponse: undefined })),
    );
    let isLate = false;
    const rows: typeof queue.database.rows = async (statement) => {
      const made = await queue.database.rows<never>(statement);
      if (isLate || made.length < 2) {
        return made;
      }
      isLate = true;
      throw new AppError("resource_unavailable", "The database cannot be reached.");
    };
    const inserts = insertsOf({ rows }, JOB_INSERT.sql);

    const made = await Promise.all(runs.map((each) => inserts.do(rowsOf(each))));

    expect([isLate, made]).toEqual([true, runs.map(() => true)]);
    expect(await counts()).toEqual(
      expect.objectContaining({ runs: before.runs + 8, events: before.events + 8, jobs: before.jobs + 8 }),
    );
  });

  test("a create whose thread is taken stores nothing", async () => {
    const thread = aThread();
    const binding = { thread, expected: undefined };
    const notices = [{ threadId: thread.id, notice: aReply("Hello") }];
    const bound = await aNewRun("bound", { binding, notices });
    await storage.runs.create(bound.run, bound.change);
    const before = await counts();

    const late = await aNewRun("late", { binding, notices });
    await expect(storage.runs.create(late.run, late.change)).rejects.toEqual(new UniqueConflict("thread"));

    expect(await counts()).toEqual(before);
  });

  test("a create within a transaction is part of it", async () => {
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
