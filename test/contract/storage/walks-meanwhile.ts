import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId, type PrincipalId, type RunId, type TeamId } from "../../../src/core/basics/ids.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { RunQuery } from "../../../src/core/ports/stores/run-query.ts";
import { aChange } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, type StorageHarness } from "./harness.ts";
import { naiveList } from "./naive-run-list.ts";

const WALKS = 12;
const MINUTE_MS = 60_000;

/** Few times and titles, so that most runs share them. The id decides then, and it is random. */
const drawnRun = fc.record({
  minutesAgo: fc.constantFrom(1, 2, 2, 3),
  title: fc.constantFrom("a", "b"),
  agent: fc.constantFrom("demo", "codex"),
  id: fc.uuid({ version: 7 }),
});
type DrawnRun = typeof drawnRun extends fc.Arbitrary<infer Value> ? Value : never;

const walks = fc.record({
  before: fc.array(drawnRun, { minLength: 4, maxLength: 8 }),
  /** The runs that are created after each page. */
  meanwhile: fc.array(fc.array(drawnRun, { maxLength: 2 }), { maxLength: 5 }),
  sort: fc.constantFrom("created_at", "title", "agent"),
  order: fc.constantFrom("asc", "desc"),
  limit: fc.integer({ min: 1, max: 3 }),
});

function aDrawn(title: "a" | "b"): DrawnRun {
  return { minutesAgo: 3, title, agent: "demo", id: newId(new Date()) };
}

/** A team of its own for the runs of one test case. */
interface Place {
  readonly harness: StorageHarness;
  readonly teamId: TeamId;
  readonly creatorId: PrincipalId;
}

export function describeWalksMeanwhile(harness: () => StorageHarness): void {
  describe("paging through a list", () => {
    test("paging skips no existing run and returns none twice while others are created", async () => {
      const isRight = fc.asyncProperty(walks, async ({ before, meanwhile, ...kind }) => {
        const place = await aPlace(harness());
        const old = await store(place, before);
        const arriving = meanwhile.values();

        const query = queryOf(place, kind);
        const walked = await walk(place, query, () => store(place, arriving.next().value ?? []));

        expect(new Set(walked).size).toBe(walked.length);
        const isOld = new Set(old.map(({ id }) => id));
        expect(walked.filter((id) => isOld.has(id))).toEqual(naiveList(old, query).map(({ id }) => id));
      });
      await fc.assert(isRight, { numRuns: WALKS });
    });

    test.each([
      ["newest", "desc"],
      ["oldest", "asc"],
    ] as const)(
      "paging from the %s update returns no changing run twice and every unchanged run",
      async (_, order) => {
        const changes = fc.array(fc.nat(7), { maxLength: 6 });
        const isRight = fc.asyncProperty(walks, changes, async ({ before, limit }, changing) => {
          const place = await aPlace(harness());
          const old = await store(place, before);
          const next = changing.values();

          const changed = new Set<RunId>();
          const walked = await walk(place, queryOf(place, { sort: "updated_at", order, limit }), async () => {
            const run = old[next.next().value ?? old.length];
            if (run !== undefined) {
              changed.add(run.id);
            }
            await touch(place, run);
          });

          expect(new Set(walked).size).toBe(walked.length);
          const still = old.filter(({ id }) => !changed.has(id)).map(({ id }) => id);
          expect(walked).toEqual(expect.arrayContaining(still));
        });
        await fc.assert(isRight, { numRuns: WALKS });
      },
    );

    test("paging returns no run twice that is changed by a process whose clock is behind", async () => {
      const place = await aPlace(harness());
      const old = await store(place, [aDrawn("a"), aDrawn("b")]);
      for (const run of old) {
        await touch(place, run);
      }

      const query = queryOf(place, { sort: "updated_at", order: "desc", limit: 1 });
      const walked = await walk(place, query, async () => {
        await place.harness.clock.advance(-MINUTE_MS);
        await touch(place, old[1]);
        await place.harness.clock.advance(MINUTE_MS);
      });

      expect(walked).toEqual([old[1]?.id, old[0]?.id]);
    });
  });
}

async function aPlace(harness: StorageHarness): Promise<Place> {
  return { harness, teamId: randomUUID() as TeamId, creatorId: (await aPerson(harness)).id };
}

function queryOf({ teamId, creatorId }: Place, kind: Pick<RunQuery, "sort" | "order" | "limit">): RunQuery {
  return { viewer: { id: creatorId, teamId, administrator: true }, filters: {}, ...kind };
}

async function store(
  { harness, teamId, creatorId }: Place,
  drawn: readonly DrawnRun[],
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const { minutesAgo, id, ...attributes } of drawn) {
    const createdAt = new Date(harness.clock.now().getTime() - minutesAgo * MINUTE_MS);
    // Shrinking repeats an id in another team, so a part of the id is replaced.
    const ownId = `${id.slice(0, 23)}-${randomUUID().slice(24)}` as RunId;
    runs.push(await aStoredRun(harness, { ...attributes, id: ownId, createdAt, teamId, creatorId }));
  }
  return runs;
}

async function touch({ harness }: Place, run: Run | undefined): Promise<void> {
  if (run === undefined) {
    return;
  }
  await harness.clock.advance(1);
  const event = { turn: 0, body: { kind: "agent.title", title: "touched" } } as const;
  await harness.storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { events: [event] }));
}

async function walk(
  { harness }: Place,
  query: RunQuery,
  meanwhile: () => Promise<unknown>,
): Promise<readonly RunId[]> {
  const walked: RunId[] = [];
  for (let page = await harness.storage.runs.list(query); ; ) {
    walked.push(...page.runs.map(({ id }) => id));
    if (page.next === undefined) {
      return walked;
    }
    await meanwhile();
    page = await harness.storage.runs.list({ ...query, after: page.next });
  }
}
