import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run, RunDefinition } from "../../../src/core/model/runs/run.ts";
import type { EventLogPosition } from "../../../src/core/ports/stores/event-log.ts";
import { Database, type Statements, type Tx } from "../../../src/storage/database.ts";
import { PrismaEventLog } from "../../../src/storage/event-log.ts";
import { repairLog } from "../../../src/storage/log-repair.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { PrismaWebhookLog } from "../../../src/storage/webhooks/webhook-log.ts";
import { createWebhookStorage } from "../../../src/storage/webhooks/webhook-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aChange, anOrigin, aRun } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";
import { anEndpoint } from "../../support/webhook-builders.ts";

let testDatabase: TestDatabase;
let database: Database;
let log: PrismaEventLog;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 4, log: SILENT_LOG });
  log = new PrismaEventLog(database);
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

describe("an event of a slow transaction", () => {
  test("an event of a slow transaction is not skipped by one that was committed first", async () => {
    const [slow, fast] = [await aStoredRun(), await aStoredRun()];
    const start = await settledEnd();
    const client = new Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query("BEGIN");
    await client.query(INSERT, [slow.id]);
    await client.query("SELECT 1");
    await addEvent(fast);

    const before = await log.read(start, 100);
    await client.query("COMMIT");
    await client.end();
    const after = await untilSettled(start, 2);

    expect([before.events, before.isHeldBack, before.next]).toEqual([[], true, start]);
    expect(after.events.map(({ position: place }) => place.runId)).toEqual([slow.id, fast.id]);
    expect(after.isHeldBack).toBe(false);
  });
});

describe("an event that the viewer does not see", () => {
  test("the body of an invisible event is not read from the database", async () => {
    const start = await settledEnd();
    const [theirs, ours] = [await aStoredRun({ teamOwned: false }), await aStoredRun()];
    await untilSettled(start, 2);
    const viewer = { id: randomUUID() as PrincipalId, teamId: FIRST_TEAM, administrator: false };
    const sent: unknown[] = [];

    const page = await new PrismaEventLog(tapped(sent)).read(start, 100, viewer);

    expect(page.events.map(({ event }) => [event.runId, event.body.kind])).toEqual([
      [ours.id, "run.created"],
    ]);
    expect(sent).toMatchObject([
      { runId: theirs.id, body: null },
      { runId: ours.id, body: { kind: "run.created" } },
    ]);
  });
});

describe("tables that were copied from a server further on", () => {
  test("positions in copied tables are moved after those of this server, in order", async () => {
    const [one, two] = [await aStoredRun(), await aStoredRun()];
    await untilSettled(await log.end(), 0);
    const ahead = 1_000_000_000n;
    await execute(`UPDATE run_events SET position = position + ${ahead}`);
    await execute(`INSERT INTO event_log_cursors (name, position, run_id, seq)
      SELECT 'test', max(position) - 1, gen_random_uuid(), 0 FROM run_events`);
    const distance = await distanceOfReader();

    const moved = [await repairLog(testDatabase.url), await repairLog(testDatabase.url)];
    const three = await aStoredRun();
    const { events } = await untilSettled(LOG_BEGINNING, 3);

    expect(moved).toEqual([true, false]);
    const runs = events.map(({ position: place }) => place.runId).slice(-3);
    expect(runs).toEqual([one.id, two.id, three.id]);
    expect(await distanceOfReader(two)).toBe(distance);
  });

  test("a reader's position alone moves too, if there is no event", async () => {
    await execute("UPDATE event_log_cursors SET position = 2 ^ 40 WHERE name = 'webhooks'");

    expect([await repairLog(testDatabase.url), await repairLog(testDatabase.url)]).toEqual([true, false]);
  });
});

describe("the webhooks' cursor while there is no endpoint", () => {
  test("new events do not move it, and old ones do, unless another process moves it already", async () => {
    const webhooks = new PrismaWebhookLog(database);
    await repairLog(testDatabase.url);
    const run = await aStoredRun();
    await untilSettled(await log.end(), 0);
    const positions = [await webhookPosition()];
    const look = async () => {
      expect(await webhooks.next(100)).toEqual({ stateChanges: [], hasMore: false });
      positions.push(await webhookPosition());
    };

    await look();
    await execute("UPDATE run_events SET at = now() - interval '61 seconds'");
    const other = new Client({ connectionString: testDatabase.url });
    await other.connect();
    await other.query("BEGIN");
    await other.query("SELECT FROM event_log_cursors WHERE name = 'webhooks' FOR UPDATE");
    await look();
    await other.query("COMMIT");
    await other.end();
    await waitFor(
      async () => {
        await look();
        return positions.at(-1)?.startsWith(run.id);
      },
      { what: "the cursor at the end" },
    );

    expect(positions.slice(1, 3)).toEqual([positions[0], positions[0]]);
  });

  test("an endpoint that is added or enabled receives nothing that happened before", async () => {
    const { endpoints, log: events } = createWebhookStorage({ database, pubsub: SILENT_PUBSUB });
    const endpoint = anEndpoint();
    const runs: Run[] = [];
    const told: string[] = [];
    const aRunLater = async () => {
      runs.push(await aStoredRun());
      await untilSettled(await log.end(), 0);
    };
    const read = async () => {
      told.push(...(await events.next(100)).stateChanges.map(({ run }) => run.id));
    };

    await aRunLater();
    await endpoints.add(endpoint);
    await read();
    await endpoints.replace({ ...endpoint, enabled: false });
    await aRunLater();
    await endpoints.replace(endpoint);
    await read();
    await aRunLater();
    await waitFor(
      async () => {
        await read();
        return told.length > 0;
      },
      { what: "the last run" },
    );
    await endpoints.remove(endpoint.teamId, endpoint.id);

    expect(told).toEqual([runs[2]?.id]);
  });
});

async function webhookPosition(): Promise<string> {
  const rows = await database.rows<{ readonly text: string }>({
    text: "SELECT run_id || ' ' || seq AS text FROM event_log_cursors WHERE name = 'webhooks'",
    values: [],
  });
  return rows[0]?.text ?? "";
}

const LOG_BEGINNING: EventLogPosition = {
  position: -(2n ** 62n),
  runId: "00000000-0000-0000-0000-000000000000" as Run["id"],
  seq: 0,
};
const INSERT = `INSERT INTO run_events (run_id, seq, turn, kind, body)
  VALUES ($1, 2, 0, 'workspace.ready', '{"kind": "workspace.ready", "restored": false}')`;

/** The database, recording the rows that it returns. */
function tapped(sent: unknown[]): Statements {
  const tap = (client: Tx): Tx =>
    new Proxy(client, {
      get: (target, name) => {
        if (name !== "$queryRaw") {
          return Reflect.get(target, name);
        }
        return async (...statement: Parameters<Tx["$queryRaw"]>) => {
          const rows = await target.$queryRaw<unknown[]>(...statement);
          sent.push(...rows);
          return rows;
        };
      },
    });
  return {
    query: (query) => database.query((client) => query(tap(client))),
    transaction: (work) => database.transaction(work),
    rows: (statement) => database.rows(statement),
  };
}

async function aStoredRun(changes: Partial<RunDefinition> = {}): Promise<Run> {
  const storage = createPrismaStorage({
    database,
    pubsub: SILENT_PUBSUB,
    clock: systemClock,
    jobInsert: NO_JOBS,
  });
  const { id } = await storage.people.ensure(FIRST_TEAM, "memory:Ada", "Ada");
  const origin = anOrigin({ creatorId: id, ...changes });
  const created = { turn: 0, body: { kind: "run.created", state: "QUEUED" } } as const;
  return storage.runs.create(origin, aChange(aRun(origin), { events: [created] }));
}

async function addEvent(run: Run): Promise<void> {
  const storage = createPrismaStorage({
    database,
    pubsub: SILENT_PUBSUB,
    clock: systemClock,
    jobInsert: NO_JOBS,
  });
  const event = { turn: 0, body: { kind: "workspace.ready", restored: false } } as const;
  await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { events: [event] }));
}

/** Databases of other tests are on the same server, and their transactions hold this log back as well. */
async function untilSettled(after: EventLogPosition, count: number): ReturnType<PrismaEventLog["read"]> {
  let page = await log.read(after, 100);
  const isThere = async () => {
    page = await log.read(after, 100);
    return page.events.length >= count && !page.isHeldBack;
  };
  await waitFor(isThere, { what: `${count} settled events` });
  return page;
}

async function settledEnd(): Promise<EventLogPosition> {
  return (await untilSettled(LOG_BEGINNING, 0)).next;
}

async function distanceOfReader(newest?: Run): Promise<string> {
  const last = newest === undefined ? "true" : `run_id = '${newest.id}'`;
  const rows = await database.query((client) =>
    client.$queryRawUnsafe<{ distance: bigint }[]>(`
      SELECT (SELECT max(position) FROM run_events WHERE ${last})
        - (SELECT position FROM event_log_cursors WHERE name = 'test') AS distance`),
  );
  return String(rows[0]?.distance);
}

async function execute(sql: string): Promise<void> {
  await database.query((client) => client.$executeRawUnsafe(sql));
}
