import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { RunQuery } from "../../../src/core/ports/stores/run-query.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aChange, anOrigin, aRun } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const OLD_RUNS = 200;
const NEW_RUNS = 1_000;
const LOOPS = 4;
const LIMIT = 20;
/** Few distinct times, so that a page ends between runs that differ only by id. */
const MINUTES = 3;
const TITLES = ["a", "b", "c"];
const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

let testDatabase: TestDatabase;
let database: Database;
let storage: Storage;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: LOOPS + 2, log: SILENT_LOG });
  storage = createPrismaStorage({
    database,
    pubsub: SILENT_PUBSUB,
    clock: systemClock,
    jobInsert: NO_JOBS,
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

/** The runs of one team. */
interface Place {
  readonly teamId: TeamId;
  readonly creatorId: PrincipalId;
}

describe("paging through a long list while it grows", () => {
  test("paging by time and title in both directions skips no existing run and returns none twice", async () => {
    const place = await aPlace();
    const old = await Promise.all(numbers(OLD_RUNS).map((index) => store(place, index)));
    let added = 0;
    const loop = async () => {
      while (added < NEW_RUNS) {
        await store(place, added++);
      }
    };

    const loops = numbers(LOOPS).map(loop);
    const rounds: (readonly RunId[])[] = [];
    // Repeats until the last run has arrived, so that each of them arrives during paging.
    while (added < NEW_RUNS) {
      rounds.push(...(await allWalks(place)));
    }
    await Promise.all(loops);

    expect(rounds.length).toBeGreaterThan(0);
    for (const walked of rounds) {
      const seen = new Set(walked);
      expect(seen.size).toBe(walked.length);
      expect(old.filter((id) => !seen.has(id))).toEqual([]);
    }
    expect(rounds.some(({ length }) => length > OLD_RUNS)).toBe(true);
    expect(new Set(await walk(place, "created_at", "asc")).size).toBe(OLD_RUNS + NEW_RUNS);
  });
});

function allWalks(place: Place): Promise<(readonly RunId[])[]> {
  return Promise.all([
    walk(place, "created_at", "asc"),
    walk(place, "created_at", "desc"),
    walk(place, "title", "asc"),
    walk(place, "title", "desc"),
  ]);
}

async function walk(
  { creatorId: id, teamId }: Place,
  sort: RunQuery["sort"],
  order: RunQuery["order"],
): Promise<readonly RunId[]> {
  const query = { viewer: { id, teamId, administrator: true }, filters: {}, sort, order, limit: LIMIT };
  const walked: RunId[] = [];
  for (let page = await storage.runs.list(query); ; ) {
    walked.push(...page.runs.map(({ id }) => id));
    if (page.next === undefined) {
      return walked;
    }
    page = await storage.runs.list({ ...query, after: page.next });
  }
}

async function aPlace(): Promise<Place> {
  const teamId = randomUUID() as TeamId;
  await storage.teams.put({ id: teamId, name: teamId, createdAt: new Date(START_MS), sharing: "off" });
  return { teamId, creatorId: (await storage.people.ensure(teamId, "memory:ada", "Ada")).id };
}

/** The id is random, so the run can be before or after the current position of a reader. */
async function store(place: Place, index: number): Promise<RunId> {
  const id = randomUUID() as RunId;
  const createdAt = new Date(START_MS + (index % MINUTES) * 60_000);
  const title = TITLES[Math.floor(index / MINUTES) % TITLES.length] ?? "";
  const origin = anOrigin({ ...place, id, createdAt, title });
  await storage.runs.create(origin, aChange(aRun(origin)));
  return id;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
