import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { Database, type Statement } from "../../../src/storage/database.ts";
import {
  eventsBeforeStatement,
  eventsStatement,
  lastSeqStatement,
} from "../../../src/storage/event-pages.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

const EVENTS = 50_000;
const EVENTS_A_TURN = 50;
const INSERT = `
  INSERT INTO run_events (run_id, seq, turn, kind, body)
  SELECT $1::uuid, seq, seq / ${EVENTS_A_TURN}, 'agent.title', '{"kind": "agent.title", "title": "x"}'
  FROM generate_series(2, ${EVENTS}) AS seq`;

let harness: ApiHarness;
let database: Database;
let id: RunId;
beforeAll(async () => {
  harness = await startHarness();
  database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
  id = (await createRun(harness)) as RunId;
  await database.rows({ text: INSERT, values: [id] });
  const lastSeq = { text: "UPDATE runs SET last_seq = $2::int WHERE id = $1::uuid", values: [id, EVENTS] };
  await database.rows(lastSeq);
  await database.rows({ text: "ANALYZE run_events", values: [] });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** The number of events that a statement reads from the table. */
async function eventsRead({ text, values }: Statement): Promise<number> {
  const explain = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values };
  const [row] = await database.rows<{ "QUERY PLAN": readonly { Plan: Plan }[] }>(explain);
  const count = (plan: Plan): number => {
    const rows = plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0);
    const own = plan["Relation Name"] === "run_events" ? rows * plan["Actual Loops"] : 0;
    return (plan.Plans ?? []).reduce((sum, child) => sum + count(child), own);
  };
  return (row?.["QUERY PLAN"] ?? []).reduce((sum, { Plan }) => sum + count(Plan), 0);
}

test("a page of a long log reads only its own events, forwards and backwards", async () => {
  expect(await eventsRead(eventsStatement(id, 25_000, 100, undefined))).toBe(100);
  expect(await eventsRead(eventsBeforeStatement(id, 25_000, 100))).toBe(100);
  expect(await eventsRead(eventsBeforeStatement(id, EVENTS + 1, 100))).toBe(100);
});

test("the start of a turn is found in a long log by reading few events", async () => {
  const { runs } = harness.storage;

  expect(await runs.lastSeqBeforeTurn(id, 980)).toBe(980 * EVENTS_A_TURN - 1);
  expect(await runs.lastSeqBeforeTurn(id, 0)).toBe(0);
  expect(await runs.lastSeqBeforeTurn(id, 5_000)).toBe(EVENTS);
  expect(await eventsRead(lastSeqStatement(id, 980))).toBeLessThan(20);
});
