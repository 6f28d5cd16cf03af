import { readFile, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type Postgres, query } from "./postgres.ts";

/** PostgreSQL plans a statement for its values a few times before it uses one plan for all values. */
const REPEATS = 8;
const WRITTEN_MS = 50;
/** An index scan that filters out more rows than this uses the wrong index. */
const FAR_ROWS = 10_000;
const ENTRY = /plan:\n((?:\t.*\n)+)/g;

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Rows Removed by Filter"?: number;
  readonly "Actual Loops"?: number;
  /** Includes the pages of the nodes below. */
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Returns the plans of the statements that `ask` causes. They come from the database's log, so they are the plans for
 * real requests with their values and prepared statements.
 */
export async function plansOf(
  { outputFile }: Postgres,
  ask: () => Promise<unknown>,
): Promise<readonly PlanNode[]> {
  for (let index = 1; index < REPEATS; index += 1) {
    await ask();
  }
  const { size } = await stat(outputFile);
  await ask();
  await pause(WRITTEN_MS);
  const written = (await readFile(outputFile)).subarray(size).toString();
  return Array.from(
    written.matchAll(ENTRY),
    ([, json = ""]) => (JSON.parse(json) as { readonly Plan: PlanNode }).Plan,
  );
}

/** Describes what is wrong with the plans. Empty if nothing is. */
export function faultsIn(plans: readonly PlanNode[], table: string): readonly string[] {
  return [...new Set(plans.flatMap((plan) => faultsAt(plan, table)))];
}

/** The number of pages of tables and indexes that were read. A page that was read twice counts twice. */
export function pagesIn(plans: readonly PlanNode[]): number {
  return plans.reduce(
    (sum, plan) => sum + (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0),
    0,
  );
}

/** Plans are logged for all statements during `work`. */
export async function withPlans<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  await setPlans(databaseUrl, "0");
  try {
    return await work();
  } finally {
    await setPlans(databaseUrl, "-1");
  }
}

async function setPlans(databaseUrl: string, minDuration: string): Promise<void> {
  await query(databaseUrl, `ALTER SYSTEM SET auto_explain.log_min_duration = '${minDuration}'`);
  for (const name of ["log_analyze", "log_buffers"]) {
    await query(databaseUrl, `ALTER SYSTEM SET auto_explain.${name} = ${minDuration === "0"}`);
  }
  await query(databaseUrl, "SELECT pg_reload_conf()");
  await pause(WRITTEN_MS);
}

function faultsAt(node: PlanNode, table: string): readonly string[] {
  // The node was planned but never executed.
  if (node["Actual Loops"] === 0) {
    return [];
  }
  const isOfTable = node["Relation Name"] === table;
  const removed = (node["Rows Removed by Filter"] ?? 0) * (node["Actual Loops"] ?? 1);
  return [
    ...(isOfTable && node["Node Type"] === "Seq Scan" ? ["reads the whole table"] : []),
    ...(isOfTable && removed > FAR_ROWS ? [`passes over ${removed} rows`] : []),
    ...(node.Plans ?? []).flatMap((below) => faultsAt(below, table)),
  ];
}
