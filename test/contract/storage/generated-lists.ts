import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { ListedRun, Run, RunDefinition } from "../../../src/core/model/runs/run.ts";
import {
  RUN_SORTS,
  type RunFilters,
  type RunQuery,
  TASK_STATUSES,
} from "../../../src/core/ports/stores/run-query.ts";
import { aChange } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, type StorageHarness } from "./harness.ts";
import { naiveList } from "./naive-run-list.ts";

const HOUR_MS = 3_600_000;
const AGES_HOURS = [30, 20, 10, 9, 8, 1];
/** Few values, so that many runs have the same ones. No run has the second of each. */
const NAMES = ["nightly", "nobody", `${"long ".repeat(80)}a`, `${"long ".repeat(80)}b`];
const SKILLS = ["o/r:one", "o/r:nobody", "o/r:two"];
const WORDS = ["parser", "nowhere", "5%", "a_b", "c:\\x", "PARSER the"];
const STATES = ["QUEUED", "ERROR", "INPROGRESS", "SUCCEEDED"] as const;
const TYPES = ["PLAN", "SCREENSHOT", "FILE"] as const;
const SOURCES = ["API", "LINEAR", "LOCAL", "SLACK"] as const;

/** The randomly generated attributes of a run. */
const attributes = fc.record({
  ageHours: fc.constantFrom(...AGES_HOURS),
  title: fc.constantFrom("a parser", "to 5% of it", "to 50 of it", "b", "in c:\\x"),
  prompt: fc.constantFrom("the Parser the lexer", "x a_b", "x acb", "y"),
  agent: fc.constantFrom("demo", "codex"),
  source: fc.constantFrom("API", "LOCAL", "SLACK"),
  teamOwned: fc.boolean(),
  skill: fc.option(fc.constantFrom("o/r:one", "o/r:two"), { nil: undefined }),
  name: fc.option(fc.constantFrom("nightly", ...NAMES.slice(2)), { nil: undefined }),
  modelId: fc.option(fc.constantFrom("m", "n"), { nil: undefined }),
  harnessModelId: fc.option(fc.constant("n"), { nil: undefined }),
  environmentId: fc.option(fc.constantFrom("e", "f"), { nil: undefined }),
  metadata: fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2=3")),
  state: fc.constantFrom("QUEUED", "INPROGRESS", "SUCCEEDED"),
  artifactTypes: fc.uniqueArray(fc.constantFrom("PLAN", "FILE"), { maxLength: 2 }),
  person: fc.nat(2),
  isChanged: fc.boolean(),
});
type Attributes = typeof attributes extends fc.Arbitrary<infer Value> ? Value : never;

const RUNS = 40;

/** A team with its runs and people. */
interface Pool {
  readonly teamId: TeamId;
  readonly people: readonly PrincipalId[];
  readonly runs: readonly Run[];
}

export function describeGeneratedLists(harness: () => StorageHarness): void {
  describe("lists of all kinds", () => {
    test("every list equals the result of checking each run", async () => {
      const pool = await aPool(harness());

      const isRight = fc.asyncProperty(queries(pool), async (query) => {
        const walked = await walk(harness(), query);
        expect(walked.map(({ id }) => id)).toEqual(naiveList(pool.runs, query).map(({ id }) => id));
      });
      await fc.assert(isRight, { numRuns: 200 });
    });
  });
}

async function aPool(harness: StorageHarness): Promise<Pool> {
  const teamId = randomUUID() as TeamId;
  const people = await Promise.all([aPerson(harness), aPerson(harness), aPerson(harness)]);
  const scheduleId = randomUUID();
  const runs: Run[] = [];
  for (const drawn of fc.sample(attributes, RUNS)) {
    const nearest = runs.at(-1);
    const origin = {
      ...originOf(harness, drawn),
      teamId,
      creatorId: people[drawn.person]?.id ?? randomUUID(),
      ...(drawn.person === 0 ? { scheduleId } : {}),
      ancestorIds: drawn.isChanged && nearest !== undefined ? [nearest.id, ...nearest.ancestorIds] : [],
    } as Partial<RunDefinition>;
    runs.push(await changed(harness, await aStoredRun(harness, origin), drawn));
  }
  return { teamId, people: people.map(({ id }) => id), runs };
}

function originOf(harness: StorageHarness, drawn: Attributes): Partial<RunDefinition> {
  const { agent, environmentId, harnessModelId, metadata, modelId, name, skill, source } = drawn;
  return {
    title: drawn.title,
    prompt: drawn.prompt,
    agent,
    source,
    teamOwned: drawn.teamOwned,
    metadata,
    createdAt: new Date(harness.clock.now().getTime() - drawn.ageHours * HOUR_MS),
    ...(skill === undefined ? {} : { skill }),
    config: {
      ...(name === undefined ? {} : { name }),
      ...(modelId === undefined ? {} : { model_id: modelId }),
      ...(harnessModelId === undefined ? {} : { harness: { model_id: harnessModelId } }),
      ...(environmentId === undefined ? {} : { environment_id: environmentId, repository: "Acme/App" }),
    },
  };
}

/** Updates some of the runs long after their creation. */
async function changed(harness: StorageHarness, run: Run, drawn: Attributes): Promise<Run> {
  if (!drawn.isChanged) {
    return run;
  }
  const { artifactTypes, state } = drawn;
  return harness.storage.runs.change(run.id, (subject) => aChange({ ...subject.run, state, artifactTypes }));
}

function queries({ teamId, people, runs }: Pool): fc.Arbitrary<RunQuery> {
  const times = runs.map(({ createdAt }) => createdAt);
  const ids = [...runs.map(({ id }) => id), randomUUID() as RunId];
  const schedules = [...runs.flatMap(({ scheduleId }) => scheduleId ?? []), randomUUID()];
  const filters: fc.Arbitrary<Partial<RunFilters>> = fc.record(
    {
      states: fc.uniqueArray(fc.constantFrom(...STATES), { minLength: 1 }),
      name: fc.constantFrom(...NAMES),
      modelId: fc.constantFrom("m", "nobody", "n"),
      creatorId: fc.constantFrom(...people, randomUUID()),
      sources: fc.uniqueArray(fc.constantFrom(...SOURCES), { minLength: 1 }),
      taskStatuses: fc.uniqueArray(fc.constantFrom(...TASK_STATUSES), { minLength: 1 }),
      createdAfter: fc.constantFrom(...times),
      createdBefore: fc.constantFrom(...times),
      updatedAfter: fc.constantFrom(...times),
      updatedBefore: fc.constantFrom(...times),
      environmentId: fc.constantFrom("e", "nobody", null),
      skill: fc.constantFrom(...SKILLS),
      repository: fc.constantFrom("acme/app", "acme/other"),
      conversationId: fc.constantFrom(...runs.map(({ conversationId }) => conversationId)),
      scheduleId: fc.constantFrom(...schedules),
      ancestorId: fc.constantFrom(...ids),
      parentId: fc.constantFrom(...ids),
      runOrSessionId: fc.constantFrom(...ids, ...runs.map(({ sessionId }) => sessionId)),
      artifactType: fc.constantFrom(...TYPES, "NOTHING"),
      metadata: fc.dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2=3")),
      text: fc.constantFrom(...WORDS),
    },
    { requiredKeys: [] },
  );
  // Hardly any run matches all filters at once, so a query uses a few of them.
  const few = fc.tuple(filters, fc.infiniteStream(fc.nat(4))).map(([given, keep]) => fewOf(given, keep));
  return fc.record({
    viewer: fc.record({
      id: fc.constantFrom(...people),
      teamId: fc.constantFrom(teamId, teamId, teamId, randomUUID() as TeamId),
      administrator: fc.boolean(),
    }),
    filters: few as fc.Arbitrary<RunFilters>,
    sort: fc.constantFrom(...RUN_SORTS),
    order: fc.constantFrom("asc", "desc"),
    limit: fc.integer({ min: 1, max: 25 }),
  });
}

function fewOf(given: Partial<RunFilters>, keep: Iterator<number>): Partial<RunFilters> {
  return Object.fromEntries(Object.entries(given).filter(() => keep.next().value === 0));
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
