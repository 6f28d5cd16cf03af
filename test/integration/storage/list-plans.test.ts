import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import { USAGE_GROUPS } from "../../../src/core/model/usage/usage.ts";
import type { RunFilters, RunQuery } from "../../../src/core/ports/stores/run-query.ts";
import { frequentStatement, listStatement } from "../../../src/storage/run-list.ts";
import { usageSql } from "../../../src/storage/run-reports.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const TEAM = randomUUID() as TeamId;
const PERSON = randomUUID() as PrincipalId;
const OTHER = randomUUID();
const PARENT = randomUUID() as RunId;
const SCHEDULE = randomUUID();

const PEOPLE =
  "INSERT INTO principals (id, team_id, type) SELECT unnest($1::uuid[]), id, 'user' FROM teams LIMIT 2";
/** Enough runs that a full scan is not the cheapest plan. One in fifty matches a filter. */
const RUNS = `
  INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, metadata_pairs,
    config_name, model_id, environment_id, skill, schedule_id, artifact_types, ancestor_ids, conversation_id, session_id,
    provenance, created_at, updated_at, state)
  SELECT gen_random_uuid(), $1, 'Run ' || n, 'Do ' || md5(n::text), CASE WHEN rare THEN 'CLI' ELSE 'API' END,
    CASE WHEN rare THEN $2 ELSE $3 END::uuid, true, '{}', 'demo', '{}', ARRAY['n=' || n / 4, 'squad=s' || n % 4], one, one, one, one,
    CASE WHEN rare THEN $4::uuid END, CASE WHEN rare THEN ARRAY['PLAN'] ELSE '{}' END,
    CASE WHEN rare THEN ARRAY[$5::uuid] ELSE '{}' END, gen_random_uuid(), gen_random_uuid(), '{}',
    now() - n * interval '1 hour', now() - n * interval '1 hour', CASE WHEN rare THEN 'ERROR' ELSE 'SUCCEEDED' END
  FROM (
    SELECT n, n % 50 = 0 AS rare, CASE WHEN n % 50 = 0 THEN 'x' END AS one FROM generate_series(1, 5000) AS n
  ) AS drawn`;
const WORDS = "INSERT INTO run_search_texts (run_id, text) SELECT id, title || prompt FROM runs";

/** The index that serves each filter alone, in the default order. */
const INDEXES: readonly (readonly [keyof RunFilters, RunFilters, string])[] = [
  ["states", { states: ["ERROR"] }, "runs_by_state_idx"],
  ["name", { name: "x" }, "runs_by_name_idx"],
  ["modelId", { modelId: "x" }, "runs_by_model_idx"],
  ["creatorId", { creatorId: PERSON }, "runs_by_creator_idx"],
  ["executorId", { executorId: PERSON }, "runs_by_executor_idx"],
  ["sources", { sources: ["CLI"] }, "runs_by_source_idx"],
  ["createdAfter", { createdAfter: new Date(Date.now() - 4e9) }, "runs_by_update_idx"],
  ["createdBefore", { createdBefore: new Date(Date.now() - 1e10) }, "runs_long_idx"],
  ["updatedAfter", { updatedAfter: new Date() }, "runs_by_update_idx"],
  ["environmentId", { environmentId: "x" }, "runs_by_environment_idx"],
  ["skill", { skill: "x" }, "runs_by_skill_idx"],
  ["conversationId", { conversationId: randomUUID() }, "runs_conversation_id_created_at_idx"],
  ["scheduleId", { scheduleId: SCHEDULE }, "runs_by_schedule_idx"],
  ["ancestorId", { ancestorId: PARENT }, "runs_ancestors_idx"],
  ["parentId", { parentId: PARENT }, "runs_ancestors_idx"],
  ["runOrSessionId", { runOrSessionId: PARENT }, "runs_session_id_key"],
  ["externalReference", { externalReference: "https://example.com/1" }, "runs_trigger_url_idx"],
  ["artifactType", { artifactType: "PLAN" }, "runs_by_plan_idx"],
  ["metadata", { metadata: { n: "7" } }, "runs_metadata_idx"],
];

/** The columns of filter indexes, and the values that the pairs below use. */
const COLUMNS: readonly (readonly [string, RunFilters])[] = [
  ["state", { states: ["ERROR"] }],
  ["source", { sources: ["CLI"] }],
  ["creator_hash", { creatorId: PERSON }],
  ["environment_hash", { environmentId: "x" }],
  ["name_hash", { name: "x" }],
  ["model_hash", { modelId: "x" }],
  ["skill_hash", { skill: "x" }],
  ["schedule_hash", { scheduleId: SCHEDULE }],
];
const PAIRS = COLUMNS.flatMap(([one, filters], index) =>
  COLUMNS.slice(index + 1).map(([other, more]) => [one, other, { ...filters, ...more }] as const),
);
/** Two texts with the same code. */
const SAME_CODE = `
  SELECT min(text) AS one, max(text) AS other FROM (SELECT 'name-' || n AS text FROM generate_series(1, 5000) AS n) AS texts
  GROUP BY filter_hash(text) HAVING count(*) > 1 LIMIT 1`;

describe("a list", () => {
  let testDatabase: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    client = new Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query(PEOPLE, [[PERSON, OTHER]]);
    await client.query(RUNS, [TEAM, PERSON, OTHER, SCHEDULE, PARENT]);
    await client.query(WORDS);
    await client.query("VACUUM ANALYZE runs, run_search_texts");
  });
  afterAll(async () => {
    await client.end();
    await testDatabase.drop();
  });

  const queryOf = (filters: RunFilters, changes: Partial<RunQuery> = {}): RunQuery => ({
    viewer: { id: PERSON, teamId: TEAM, administrator: true },
    ...{ filters, sort: "updated_at", order: "desc", limit: 20, ...changes },
  });

  /** Without the filter that cuts the page by its length, which reads only the rows of the page. */
  async function planOf(
    filters: RunFilters,
    changes?: Partial<RunQuery>,
    frequentPairs?: ReadonlySet<string>,
  ): Promise<string> {
    const { text, values } = listStatement(queryOf(filters, changes), frequentPairs);
    const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
    const lines: string[] = rows.map((row) => row["QUERY PLAN"]);
    return lines.filter((line) => !line.includes("Filter: (measured.length_before <")).join("\n");
  }

  test.each(INDEXES)("a list by %s uses its index", async (_name, filters, index) => {
    const plan = await planOf(filters);

    expect(plan).toContain(index);
    expect(plan).not.toContain("Seq Scan");
  });

  test("a list by words uses the search index, if the server has the extension", async ({ skip }) => {
    const available = "SELECT FROM pg_available_extensions WHERE name = 'pg_trgm'";
    if ((await client.query(available)).rowCount === 0) {
      skip();
    }

    const plan = await planOf({ text: "no such words" });

    expect(plan).toContain("run_search_texts_text_idx");
    expect(plan).not.toContain("Seq Scan");
  });

  test.each([
    ["updated_at", "runs_by_update_idx"],
    ["created_at", "runs_team_id_created_at_id_idx"],
    ["title", "runs_team_id_title_id_idx"],
    ["agent", "runs_team_id_agent_id_idx"],
  ] as const)("a later page in the order of %s starts in the middle of its index", async (sort, index) => {
    const value = sort.endsWith("_at") ? new Date().toISOString() : "demo";

    const plan = await planOf({}, { sort, after: { value, id: PARENT } });

    expect(plan).toMatch(new RegExp(`Index Scan.* using ${index}`));
    expect(plan).toMatch(/Index Cond: .*ROW\(/);
    expect(plan).not.toMatch(/Filter|Sort/);
  });

  test.each(PAIRS)("a list by %s and %s reads only runs that match both", async (one, other, filters) => {
    const conditions = (await planOf(filters)).match(/Index Cond: .*/g)?.join("\n");

    expect(conditions).toMatch(new RegExp(`\\b${one} =`));
    expect(conditions).toMatch(new RegExp(`\\b${other} =`));
  });

  test.each(COLUMNS)(
    "a list by %s and a type of artifact reads only runs that match both",
    async (column, filters) => {
      const plan = await planOf({ ...filters, artifactType: "PLAN" });

      expect(plan).toMatch(new RegExp(`Index Cond: .*\\b${column} =`));
    },
  );

  test("a list by a value leaves out runs with another value of the same code", async () => {
    const { one, other } = (await client.query(SAME_CODE)).rows[0];
    await client.query("UPDATE runs SET config_name = $1 WHERE title = 'Run 1'", [one]);
    await client.query("UPDATE runs SET config_name = $1 WHERE title = 'Run 2'", [other]);

    const { text, values } = listStatement(queryOf({ name: one }));
    const { rows } = await client.query(text, [...values]);

    expect(rows.map(({ title }) => title)).toEqual(["Run 1"]);
  });

  test("a list by an id finds it in every notation", async () => {
    const { text, values } = listStatement(queryOf({ creatorId: PERSON.toUpperCase() }));

    expect((await client.query(text, [...values])).rows).not.toEqual([]);
  });

  test("the planner has statistics of frequent metadata pairs", async () => {
    const { text, values } = frequentStatement({ squad: "s1", n: "7", nobody: "has this" });

    expect((await client.query(text, [...values])).rows).toEqual([{ pair: "squad=s1" }]);
  });

  test("a list by frequent metadata reads until the page is full, not all matching runs", async () => {
    const frequent = await planOf({ metadata: { squad: "s1" } }, {}, new Set(["squad=s1"]));
    const both = await planOf({ metadata: { squad: "s1", n: "7" } }, {}, new Set(["squad=s1"]));

    expect(frequent).not.toContain("runs_metadata_idx");
    expect(frequent).not.toContain("Sort");
    expect(both).toContain("runs_metadata_idx");
  });

  test.each([
    ["before", 1e10, "ROW(updated_at, id) < "],
    ["after", 2e10, "updated_at < "],
  ])(
    "a page of runs created before a time starts %s that time at one place of the index",
    async (_where, agoMs, place) => {
      const after = { value: new Date(Date.now() - 1.5e10).toISOString(), id: PARENT };

      const plan = await planOf({ createdBefore: new Date(Date.now() - agoMs) }, { after });

      const [walk = ""] = plan.split("runs_long_idx");
      expect(walk.match(/ROW\(updated_at, id\) < |updated_at < /g)).toEqual([place]);
    },
  );

  test.each(USAGE_GROUPS)(
    "usage of a week by %s reads only the ended runs of that week, and open runs",
    async (group) => {
      const [from, until] = [new Date(Date.now() - 7 * 86_400_000), new Date()];
      const { text, values } = usageSql({
        viewer: queryOf({}).viewer,
        from,
        until,
        groups: [group],
        limit: 100,
      });

      const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);

      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain("run_usage_team_id_created_at_idx");
      expect(plan).toMatch(/runs_(by_state|team_id_created_at_id)_idx/);
      expect(plan).not.toContain("Seq Scan");
    },
  );
});
