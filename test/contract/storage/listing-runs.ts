import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { ListedRun, Run, RunDefinition } from "../../../src/core/model/runs/run.ts";
import {
  RUN_SORTS,
  RUNS_LENGTH_MAX,
  type RunFilters,
  type RunQuery,
  type RunSort,
} from "../../../src/core/ports/stores/run-query.ts";
import { asListed } from "../../support/memory/storage/run-list.ts";
import { aChange } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, type StorageHarness } from "./harness.ts";

/** Each filter, the origin of a run that it matches, and that of a run that it does not match. */
const FILTERS: readonly (readonly [string, RunFilters, Partial<RunDefinition>, Partial<RunDefinition>])[] = [
  ["name", { name: "nightly" }, { config: { name: "nightly" } }, { config: { name: "nightly2" } }],
  ["model", { modelId: "m" }, { config: { model_id: "m" } }, { config: {} }],
  ["model of the harness", { modelId: "m" }, { config: { harness: { model_id: "m" } } }, { config: {} }],
  ["source", { sources: ["SLACK"] }, { source: "SLACK" }, { source: "API" }],
  ["several sources", { sources: ["SLACK", "CLI"] }, { source: "CLI" }, { source: "API" }],
  [
    "address of its start",
    { externalReference: "https://x/1" },
    { triggerUrl: "https://x/1" },
    { triggerUrl: "https://x/12" },
  ],
  [
    "address around its start",
    { externalReference: "https://x/1" },
    { triggerUrl: "https://x/1#c_2" },
    { triggerUrl: "https://x/1%23c" },
  ],
  ["environment", { environmentId: "e" }, { config: { environment_id: "e" } }, { config: {} }],
  ["no environment", { environmentId: null }, { config: {} }, { config: { environment_id: "e" } }],
  ["skill", { skill: "r:s" }, { skill: "r:s" }, { skill: "r:t" }],
  [
    "metadata",
    { metadata: { a: "1", b: "2" } },
    { metadata: { a: "1", b: "2", c: "3" } },
    { metadata: { a: "1" } },
  ],
  ["metadata with =", { metadata: { a: "b=c" } }, { metadata: { a: "b=c" } }, { metadata: { a: "b" } }],
  ["no metadata at all", { metadata: {} }, {}, { teamId: randomUUID() as TeamId }],
  ["text in the title", { text: "PARSer" }, { title: "the parser" }, { title: "x", prompt: "y" }],
  [
    "text in the prompt",
    { text: "parser" },
    { title: "x", prompt: "a Parser b" },
    { title: "x", prompt: "y" },
  ],
  [
    "text in the skill",
    { text: "r:S" },
    { title: "x", prompt: "y", skill: "r:s" },
    { title: "x", prompt: "y" },
  ],
  [
    "words in another order and in different places",
    { text: " build\tRED  r:s " },
    { title: "the red thing", prompt: "of the Build", skill: "r:s" },
    { title: "the red thing", prompt: "of the house", skill: "r:s" },
  ],
  ["text without a word", { text: " " }, {}, { teamId: randomUUID() as TeamId }],
  ["text with %", { text: "5%" }, { title: "to 5% of it" }, { title: "to 50 of it", prompt: "y" }],
  ["text with _", { text: "a_b" }, { title: "the a_b" }, { title: "the acb", prompt: "y" }],
  ["text with \\", { text: "c:\\" }, { title: "in c:\\dir" }, { title: "in c:dir", prompt: "y" }],
];

export function describeListingRuns(harness: () => StorageHarness): void {
  describe("listing runs", () => {
    test.each(FILTERS)("runs are found by %s", async (_name, filters, found, other) => {
      const creatorId = (await aPerson(harness())).id;
      const run = await aStoredRun(harness(), { ...found, creatorId });
      await aStoredRun(harness(), { ...other, creatorId });

      expect(await list(harness(), { creatorId, ...filters })).toEqual([asListed(run)]);
    });

    test("runs are found by any of several states, by creator and by ancestor", async () => {
      const creatorId = (await aPerson(harness())).id;
      const grandparent = await aStoredRun(harness(), { creatorId });
      const parent = await aStoredRun(harness(), { creatorId, ancestorIds: [grandparent.id] });
      const child = await aStoredRun(harness(), { creatorId, ancestorIds: [parent.id, grandparent.id] });
      const cancelled = await harness().storage.runs.change(child.id, ({ run }) =>
        aChange({ ...run, state: "CANCELLED" }),
      );

      expect(await list(harness(), { creatorId, states: ["CANCELLED", "ERROR"] })).toEqual([
        asListed(cancelled),
      ]);
      expect(await list(harness(), { creatorId, states: ["CANCELLED", "QUEUED"] })).toHaveLength(3);
      expect(await list(harness(), { ancestorId: parent.id })).toEqual([asListed(cancelled)]);
      expect(await list(harness(), { ancestorId: grandparent.id })).toHaveLength(2);
      expect(await list(harness(), { creatorId: randomUUID() })).toEqual([]);
    });

    test("a filter value that no run has finds no run", async () => {
      const creatorId = (await aPerson(harness())).id;
      await aStoredRun(harness(), { creatorId });

      expect(await list(harness(), { creatorId, scheduleId: randomUUID() })).toEqual([]);
      expect(await list(harness(), { creatorId, artifactType: "PLAN" })).toEqual([]);
    });

    test("filters by time exclude the time itself", async () => {
      const creatorId = (await aPerson(harness())).id;
      const [first, second, third] = await runsOverTime(harness(), creatorId, 3);

      expect(await list(harness(), { creatorId, createdAfter: first.createdAt })).toEqual(
        [third, second].map(asListed),
      );
      expect(await list(harness(), { creatorId, createdBefore: third.createdAt })).toEqual(
        [second, first].map(asListed),
      );
      expect(await list(harness(), { creatorId, updatedAfter: second.updatedAt })).toEqual([asListed(third)]);
    });

    test("team runs are listed for the whole team, other runs for creator and administrators, and none for another team", async () => {
      const [mine, other] = [await aPerson(harness()), await aPerson(harness())];
      const metadata = { tag: randomUUID() };
      const team = await aStoredRun(harness(), { creatorId: mine.id, metadata });
      const own = await aStoredRun(harness(), { creatorId: mine.id, metadata, teamOwned: false });
      const seenBy = async (id: PrincipalId, administrator: boolean, teamId = FIRST_TEAM) => {
        const query = queryOf({ metadata }, { viewer: { id, teamId, administrator } });
        return new Set((await harness().storage.runs.list(query)).runs.map((run) => run.id));
      };

      expect(await seenBy(other.id, false)).toEqual(new Set([team.id]));
      expect(await seenBy(mine.id, false)).toEqual(new Set([team.id, own.id]));
      expect(await seenBy(other.id, true)).toEqual(new Set([team.id, own.id]));
      expect(await seenBy(mine.id, true, randomUUID() as TeamId)).toEqual(new Set());
    });

    test.each(RUN_SORTS.flatMap((sort) => [[sort, "asc"] as const, [sort, "desc"] as const]))(
      "paging by %s %s returns every run once, including ties",
      async (sort, order) => {
        const creatorId = (await aPerson(harness())).id;
        const runs = await runsWithTies(harness(), creatorId);

        const walked = await walk(harness(), queryOf({ creatorId }, { sort, order, limit: 2 }));

        expect(walked).toEqual(sorted(runs, sort, order).map(asListed));
      },
    );

    test("a full last page says that there are no more runs", async () => {
      const creatorId = (await aPerson(harness())).id;
      await runsOverTime(harness(), creatorId, 2);

      const page = await harness().storage.runs.list(queryOf({ creatorId }, { limit: 2 }));

      expect(page.runs).toHaveLength(2);
      expect(page.next).toBeUndefined();
    });

    test("a page ends with the run that reaches the length limit, and the next page follows it", async () => {
      const creatorId = (await aPerson(harness())).id;
      const half = "x".repeat(RUNS_LENGTH_MAX / 2);
      const long: Partial<RunDefinition>[] = [
        { prompt: half },
        { config: { base_prompt: half } },
        { prompt: "short" },
        { prompt: half + half },
        { prompt: "short" },
      ];
      const runs: Run[] = [];
      for (const definition of long) {
        await harness().clock.advance(1_000);
        runs.push(await aStoredRun(harness(), { ...definition, creatorId }));
      }
      const query = queryOf({ creatorId }, { sort: "created_at", order: "asc", limit: 3 });

      const first = await harness().storage.runs.list(query);
      const walked = await walk(harness(), query);

      expect(first.runs).toEqual(runs.slice(0, 2).map(asListed));
      expect(walked).toEqual(runs.map(asListed));
    });

    test("paging skips and repeats no run while new runs arrive", async () => {
      const { storage } = harness();
      const creatorId = (await aPerson(harness())).id;
      const runs = await runsOverTime(harness(), creatorId, 3);
      const query = queryOf({ creatorId }, { sort: "created_at", limit: 1 });
      const first = await storage.runs.list(query);
      await runsOverTime(harness(), creatorId, 2);

      const rest = await walk(harness(), {
        ...query,
        ...(first.next === undefined ? {} : { after: first.next }),
      });

      expect([...first.runs, ...rest].map(({ id }) => id)).toEqual(runs.map(({ id }) => id).reverse());
    });
  });
}

function queryOf(filters: RunFilters, changes: Partial<RunQuery> = {}): RunQuery {
  const viewer = { id: randomUUID() as PrincipalId, teamId: FIRST_TEAM, administrator: true };
  return { viewer, filters, sort: "updated_at", order: "desc", limit: 20, ...changes };
}

async function list({ storage }: StorageHarness, filters: RunFilters): Promise<readonly ListedRun[]> {
  return (await storage.runs.list(queryOf(filters))).runs;
}

async function walk({ storage }: StorageHarness, query: RunQuery): Promise<readonly ListedRun[]> {
  const walked: ListedRun[] = [];
  for (let page = await storage.runs.list(query); ; ) {
    walked.push(...page.runs);
    if (page.next === undefined) {
      return walked;
    }
    page = await storage.runs.list({ ...query, after: page.next });
  }
}

async function runsOverTime(
  harness: StorageHarness,
  creatorId: PrincipalId,
  count: number,
): Promise<Several> {
  const runs: Run[] = [];
  for (let index = 0; index < count; index += 1) {
    await harness.clock.advance(1_000);
    runs.push(await aStoredRun(harness, { creatorId }));
  }
  return runs as unknown as Several;
}

type Several = readonly [Run, Run, Run, ...Run[]];

/** Seven runs, some of which share their times, titles and agents. */
async function runsWithTies(harness: StorageHarness, creatorId: PrincipalId): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const [index, title] of ["b", "a", "b", "b", "B", "ab", "a"].entries()) {
    if (index % 3 === 0) {
      await harness.clock.advance(1_000);
    }
    const agent = index % 2 === 0 ? "demo" : "codex";
    runs.push(await aStoredRun(harness, { creatorId, title, agent, id: shuffledId(index) }));
  }
  return runs;
}

/** Not in the order of creation, so that ties are not sorted correctly by chance. */
function shuffledId(index: number): RunId {
  return `${String((index * 5) % 7)}${randomUUID().slice(1)}` as RunId;
}

function sorted(runs: readonly Run[], sort: RunSort, order: "asc" | "desc"): readonly Run[] {
  const placeOf = (run: Run) => `${VALUES[sort](run)} ${run.id}`;
  const ascending = runs.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return order === "asc" ? ascending : ascending.reverse();
}

const VALUES: Readonly<Record<RunSort, (run: Run) => string>> = {
  updated_at: ({ updatedAt }) => updatedAt.toISOString(),
  created_at: ({ createdAt }) => createdAt.toISOString(),
  title: ({ title }) => title,
  agent: ({ agent }) => agent,
};
