import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { defined } from "../../../src/core/basics/defined.ts";
import type { RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { Principal } from "../../../src/core/model/people/principal.ts";
import type { Run, RunProgress } from "../../../src/core/model/runs/run.ts";
import { USAGE_GROUPS, type UsageGroup, type UsageRow } from "../../../src/core/model/usage/usage.ts";
import { Database } from "../../../src/storage/database.ts";
import { moveReferences } from "../../../src/storage/principal-references.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemoryRunReports } from "../../support/memory/storage/run-reports.ts";
import { emptyTables } from "../../support/memory/storage/tables.ts";
import { aChange, anOrigin, aPrincipal, aRun } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const FIRST_DAY = Date.parse("2026-03-01T00:00:00.000Z");
const PERIOD = { from: new Date(FIRST_DAY), until: new Date(FIRST_DAY + 2 * 86_400_000) };
/** The last of them is outside of the period. */
const CREATED_AT = [0, 86_399_999, 86_400_000, 172_800_000].map((ms) => new Date(FIRST_DAY + ms));
/** A run that started then has run for no time yet, so that a result does not depend on when it is computed. */
const FUTURE = new Date("2100-01-01T00:00:00.000Z");
const GROUPINGS: readonly (readonly UsageGroup[])[] = [["day"], ["creator", "model"], USAGE_GROUPS];

const origin = fc.record({
  createdAt: fc.constantFrom(...CREATED_AT),
  person: fc.nat(1),
  teamOwned: fc.boolean(),
  source: fc.constantFrom("API" as const, "SLACK" as const),
  agent: fc.constantFrom("demo", "codex"),
  preparesOnly: fc.constantFrom(undefined, undefined, true as const),
  config: fc.constantFrom(
    {},
    { repository: "Acme/Web", environment_id: "e", model_id: "m" },
    { harness: { type: "claude" as const, model_id: "n" } },
  ),
});
const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom("end" as const),
    run: fc.nat(2),
    state: fc.constantFrom("SUCCEEDED" as const, "FAILED" as const, "ERROR" as const, "CANCELLED" as const),
    startMs: fc.option(fc.integer({ min: -5, max: 5_000 }), { nil: undefined }),
    endMs: fc.integer({ min: 0, max: 90_000 }),
    totalTokens: fc.nat(9_000),
    costUsd: fc.option(fc.constantFrom(0.25, 0.5, 3), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constantFrom("continue" as const, "rename" as const, "delete" as const),
    run: fc.nat(2),
  }),
  fc.record({ kind: fc.constant("cost" as const), run: fc.nat(2), totalTokens: fc.nat(9_000) }),
  fc.record({ kind: fc.constant("join" as const) }),
);
type Origin = typeof origin extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

let testDatabase: TestDatabase;
let database: Database;
let storage: ReturnType<typeof createPrismaStorage>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 4, log: SILENT_LOG });
  storage = createPrismaStorage({
    ...{ database, pubsub: SILENT_PUBSUB, clock: systemClock, jobInsert: NO_JOBS },
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

test("after any history, usage equals the result of checking each run", async () => {
  const isRight = fc.asyncProperty(
    fc.array(origin, { minLength: 2, maxLength: 3 }),
    fc.array(step, { minLength: 2, maxLength: 8 }),
    async (origins, steps) => {
      const history = await History.begin();
      for (const each of origins) {
        await history.create(each);
      }
      for (const each of steps) {
        await history.perform(each);
      }
      await history.check();
    },
  );
  await fc.assert(isRight, { numRuns: 25 });
});

/** The runs of one team, whose second person may become the first. */
class History {
  readonly #people: readonly [Principal, Principal];
  readonly #ids: RunId[] = [];

  private constructor(people: readonly [Principal, Principal]) {
    this.#people = people;
  }

  static async begin(): Promise<History> {
    const teamId = randomUUID() as TeamId;
    await storage.teams.put({ id: teamId, name: teamId, createdAt: new Date(), sharing: "off" });
    const people = [aPrincipal({ teamId }), aPrincipal({ teamId })] as const;
    await storage.people.put(people[0]);
    await storage.people.put(people[1]);
    return new History(people);
  }

  async perform(each: Step): Promise<void> {
    switch (each.kind) {
      case "join":
        return this.#join();
      case "delete":
        return this.#delete(each.run);
      case "rename":
        return this.#change(each.run, () => ({}), { title: "Renamed" });
      case "continue":
        return this.#change(each.run, () => ({ state: "QUEUED", startedAt: FUTURE, endedAt: undefined }));
      case "cost":
        return this.#change(each.run, () => ({ totalTokens: each.totalTokens }));
      case "end":
        return this.#change(each.run, (run) => endOf(run, each));
      default:
        each satisfies never;
    }
  }

  async check(): Promise<void> {
    const [first, second] = this.#people;
    for (const viewer of [{ ...first, administrator: true }, second]) {
      for (const groups of GROUPINGS) {
        const query = { viewer, ...PERIOD, groups, limit: 100 };
        const plain = await this.#plainReports();
        const [usage, expected] = [await storage.reports.usage(query), await plain.usage(query)];
        expect(inOrder(usage)).toEqual(inOrder(expected).map(closeTo));
      }
    }
  }

  async create({ person, ...rest }: Origin): Promise<void> {
    const { id: creatorId, teamId } = this.#people[person === 0 ? 0 : 1];
    const made = anOrigin({ ...defined(rest), teamId, creatorId });
    await storage.runs.create(made, aChange(aRun(made)));
    this.#ids.push(made.id);
  }

  /** Nothing if there are fewer runs. */
  async #change(index: number, progress: (run: Run) => Partial<RunProgress>, details?: { title: string }) {
    const id = this.#ids[index];
    if (id !== undefined) {
      await storage.runs.change(id, ({ run }) => aChange({ ...run, ...progress(run) }, { details }));
    }
  }

  async #delete(index: number): Promise<void> {
    const [id] = this.#ids.splice(index, 1);
    if (id !== undefined) {
      await storage.runs.remove(id, () => undefined);
    }
  }

  async #join(): Promise<void> {
    const [into, from] = this.#people;
    await database.rows({
      text: "UPDATE principals SET joined_into = $1::uuid, disabled = true WHERE id = $2::uuid",
      values: [into.id, from.id],
    });
    await moveReferences(database, from.id);
  }

  /** Reports that go through all runs. */
  async #plainReports(): Promise<InMemoryRunReports> {
    const tables = emptyTables();
    for (const id of this.#ids) {
      const run = await storage.runs.find({ id });
      if (run !== undefined) {
        tables.runs.set(id, { run });
      }
    }
    const now = (await storage.now()).getTime();
    return new InMemoryRunReports({
      read: async (look) => look(tables, now),
      transaction: () => Promise.reject(new Error("Reports only read.")),
    });
  }
}

function endOf(
  { createdAt }: Run,
  { endMs, startMs, ...rest }: Omit<Extract<Step, { kind: "end" }>, "kind" | "run">,
) {
  const startedAt = startMs === undefined ? undefined : new Date(createdAt.getTime() + startMs);
  return { ...defined({ ...rest, startedAt }), endedAt: new Date(createdAt.getTime() + endMs) };
}

/** The two have different collations. */
function inOrder(rows: readonly UsageRow[]): readonly UsageRow[] {
  const keyOf = (row: UsageRow) =>
    JSON.stringify([row.day, row.creatorId, row.model, row.source, row.agent, row.repository]);
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The two divide in another order. */
function closeTo(row: UsageRow): object {
  const numbers = Object.entries(row).filter(
    ([, value]) => typeof value === "number" && !Number.isInteger(value),
  );
  return {
    ...row,
    ...Object.fromEntries(numbers.map(([name, value]) => [name, expect.closeTo(Number(value), 6)])),
  };
}
