import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nextDue } from "../../../src/app/cron.ts";
import { sha256, systemClock } from "../../../src/app/system.ts";
import type { Principal } from "../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { ListedRun } from "../../../src/core/model/runs/run.ts";
import type { Schedule } from "../../../src/core/model/schedules/schedule.ts";
import type { Job } from "../../../src/core/ports/queue.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { RunService } from "../../../src/core/requests/run-service.ts";
import { ScheduleService } from "../../../src/core/requests/schedules/schedule-service.ts";
import { Scheduler } from "../../../src/core/requests/schedules/scheduler.ts";
import { NoticeWriter } from "../../../src/core/runs/notice-writer.ts";
import { runRules } from "../../../src/core/team/policies/run-rules.ts";
import { createSecretBox } from "../../../src/secrets/secret-box.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { agentChoice } from "../../support/agent-choice.ts";
import { recordJobs } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { aPolicy } from "../../support/rule-builders.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const SCHEDULE = {
  name: "Every minute",
  cron: "* * * * *",
  enabled: true,
  prompt: "x",
  config: {},
  metadata: {},
};

/** The parts of one process that handle schedules. */
interface Process {
  readonly database: Database;
  readonly storage: Storage;
  readonly runs: RunService;
  readonly scheduler: Scheduler;
  readonly jobs: Job[];
}

let testDatabase: TestDatabase;
let processes: readonly [Process, Process];
let ada: Principal;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

beforeEach(async () => {
  processes = [openProcess(), openProcess()];
  ada = await processes[0].storage.people.ensure(FIRST_TEAM, "test:ada", "Ada");
});
afterEach(async () => {
  await sql("DELETE FROM policies");
  await Promise.all(processes.map(({ database }) => database.close()));
});

describe("two processes on one database", () => {
  test("each due time starts one run, however many processes try", async () => {
    const { id } = await create();

    for (let firing = 1; firing <= 3; firing += 1) {
      await moveIntoPast(id, "3 minutes");
      await Promise.all(
        processes.flatMap(({ scheduler }) => [scheduler.fire(id), scheduler.round(), scheduler.fire(id)]),
      );
      expect(await runsOf(id), `due time ${firing}`).toHaveLength(firing);
    }

    const schedule = await find(id);
    expect(schedule.nextRunAt?.getTime()).toBeGreaterThan(Date.now());
    expect(schedule.lastRanAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  test("missed due times fire once, late, and a future due time does not fire", async () => {
    const { id } = await create();
    await Promise.all(processes.map(({ scheduler }) => scheduler.fire(id)));
    expect(await runsOf(id)).toEqual([]);

    await moveIntoPast(id, "7 hours");
    for (const { scheduler } of [...processes, ...processes]) {
      await scheduler.round();
    }

    expect(await runsOf(id)).toMatchObject([{ state: "QUEUED", scheduleId: id, creatorId: ada.id }]);
  });

  test("a due time waits while its creator is suspended, and fires once when the creator is back", async () => {
    const [{ scheduler, storage }] = processes;
    const { id } = await create();
    await moveIntoPast(id, "7 hours");
    await storage.people.put({ ...ada, disabled: true, suspendedAt: new Date() });
    await scheduler.fire(id);
    await scheduler.round();
    const waiting = await find(id);
    const due = await storage.dueSchedules.list(1_000);
    const before = await runsOf(id);
    await storage.people.put(ada);

    await Promise.all(processes.map((each) => each.scheduler.round()));
    await scheduler.round();

    expect(waiting.lastSpawnError).toMatch(/creator.*signs in again/);
    expect(waiting.nextRunAt?.getTime()).toBeLessThan(Date.now());
    expect([due.includes(id), before.length, (await runsOf(id)).length]).toEqual([false, 0, 1]);
    expect(await find(id)).not.toHaveProperty("lastSpawnError");
  });

  test("a job is sent with the schedule, with its edits and with each firing", async () => {
    const [one] = processes;
    const { id } = await create();
    const waits = () =>
      one.jobs.filter(({ kind, key }) => kind === "schedule" && key === id).map(({ afterMs }) => afterMs);
    expect(waits()).toEqual([expect.any(Number)]);
    expect(waits()[0]).toBeLessThanOrEqual(60_000);

    await change(one, (service) => service.pause(ada, id));
    await change(one, (service) => service.resume(ada, id));
    await moveIntoPast(id, "1 minute");
    await one.scheduler.fire(id);

    expect(waits()).toHaveLength(3);
  });

  test.each([-1, 1])(
    "due times follow the database's clock, even if that of the process is %i hours ahead",
    async (hours) => {
      const wrong = { ...systemClock, now: () => new Date(Date.now() + hours * 3_600_000) };
      const [one] = processes;
      const input = { ...SCHEDULE, teamOwned: true };

      const { id, nextRunAt } = await change(one, (service) => service.create(ada, input), wrong);
      await change(one, (service) => service.pause(ada, id), wrong);
      const resumed = await change(one, (service) => service.resume(ada, id), wrong);

      for (const next of [nextRunAt, resumed.nextRunAt]) {
        expect(Math.abs((next?.getTime() ?? 0) - Date.now())).toBeLessThan(3 * 60_000);
      }
    },
  );

  test("a schedule that was paused first does not fire, and neither change is stored partially", async () => {
    const [one, two] = processes;
    for (let round = 1; round <= 8; round += 1) {
      const { id } = await create();
      await moveIntoPast(id, "2 minutes");

      await Promise.all([one.scheduler.fire(id), change(two, (service) => service.pause(ada, id))]);
      await Promise.all(processes.map(({ scheduler }) => scheduler.fire(id)));

      const schedule = await find(id);
      expect([schedule.enabled, schedule.nextRunAt]).toEqual([false, undefined]);
      expect((await runsOf(id)).length).toBe(schedule.lastRanAt === undefined ? 0 : 1);
    }
  });

  test("an edit that began before a firing does not undo it", async () => {
    const [one, two] = processes;
    for (let round = 1; round <= 8; round += 1) {
      const { id } = await create();
      await moveIntoPast(id, "2 minutes");
      const edit = { ...SCHEDULE, prompt: `edited ${round}` };

      await Promise.all([one.scheduler.fire(id), change(two, (service) => service.replace(ada, id, edit))]);
      await Promise.all(processes.map(({ scheduler }) => scheduler.fire(id)));

      expect(await runsOf(id)).toHaveLength(1);
      expect(await find(id)).toMatchObject({ prompt: edit.prompt });
    }
  });

  test("the due time stays if storing the run fails", async () => {
    const [one] = processes;
    const { id } = await create();
    await moveIntoPast(id, "2 minutes");
    await sql("ALTER TABLE run_events RENAME TO run_events_away");
    await expect(one.scheduler.fire(id)).rejects.toThrow();
    await sql("ALTER TABLE run_events_away RENAME TO run_events");
    expect([await runsOf(id), (await find(id)).lastRanAt]).toEqual([[], undefined]);

    await one.scheduler.round();

    expect(await runsOf(id)).toHaveLength(1);
  });

  test("the reason for a missing run is stored with the next due time", async () => {
    const [one] = processes;
    const { id } = await create();
    await one.storage.policies.add(
      aPolicy({ match: { sources: ["SCHEDULED_AGENT"] }, reason: "Not at night." }),
    );
    await moveIntoPast(id, "2 minutes");

    await Promise.all(openRounds());

    expect(await runsOf(id)).toEqual([]);
    expect(await find(id)).toMatchObject({ lastSpawnError: "Not at night.", nextRunAt: expect.any(Date) });
    expect((await find(id)).nextRunAt?.getTime()).toBeGreaterThan(Date.now());
  });
});

function openRounds(): readonly Promise<void>[] {
  return processes.map(({ scheduler }) => scheduler.round());
}

/**
 * The pool has as few connections as a process may have, because firing must not need a second connection while it
 * holds the first.
 */
function openProcess(): Process {
  const database = new Database({ url: testDatabase.url, maxConnections: 2, log: SILENT_LOG });
  const [clock, pubsub, jobs] = [systemClock, new InMemoryPubSub(), [] as Job[]];
  const jobInsert = recordJobs((sent) => jobs.push(...sent));
  const storage = createPrismaStorage({ database, pubsub, clock, jobInsert });
  const writer = new NoticeWriter(() => "http://errand.example", new Map());
  const agents = agentChoice("demo");
  const skills = { find: () => Promise.reject(new Error("No skill was named.")) };
  const runs = new RunService({
    storage,
    clock,
    writer,
    agents,
    skills,
    secretBox: createSecretBox([Buffer.alloc(32, 1).toString("base64url")]),
    pullRequests: { isAllowed: async () => true },
    blobs: { sha256: () => Promise.reject(new Error("No run has a file.")) },
    digest: sha256,
    log: SILENT_LOG,
    ...runRules({ storage, pubsub, clock }),
  });
  const scheduler = new Scheduler({
    storage,
    runs,
    nextDue,
    linkOf: (id) => `http://errand.example/${id}`,
    log: SILENT_LOG,
  });
  return { database, storage, runs, scheduler, jobs };
}

function create(): Promise<Schedule> {
  return change(processes[0], (service) => service.create(ada, { ...SCHEDULE, teamOwned: true }));
}

/** Changes the schedule in the same way as the API. */
function change<T>(
  { storage }: Process,
  work: (service: ScheduleService) => Promise<T>,
  clock = systemClock,
): Promise<T> {
  return storage.atomically((stores) => work(new ScheduleService({ storage: stores, clock, nextDue })));
}

async function find(id: string): Promise<Schedule> {
  const schedule = await processes[1].storage.schedules.find(FIRST_TEAM, id);
  if (schedule === undefined) {
    throw new Error("The schedule is gone.");
  }
  return schedule;
}

async function runsOf(scheduleId: string): Promise<readonly ListedRun[]> {
  const viewer = { ...ada, administrator: true };
  const query = { viewer, filters: { scheduleId }, limit: 100, sort: "created_at", order: "asc" } as const;
  return (await processes[1].runs.list(query)).runs;
}

function moveIntoPast(id: string, by: string): Promise<void> {
  return sql(
    `UPDATE schedules SET next_run_at = date_trunc('minute', now()) - interval '${by}' WHERE id = '${id}'`,
  );
}

function sql(statement: string): Promise<void> {
  const session = { applicationName: "errand tests", queryLimitMs: 10_000 };
  return withConnection(testDatabase.url, session, async (client) => void (await client.query(statement)));
}
