import pg from "pg";
import type { RunDefinition } from "../core/model/runs/run.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import { Batcher } from "./batcher.ts";
import type { Statement, Statements } from "./database.ts";
import { aliveKeys } from "./key-store.ts";
import { columnTypes, ORIGIN_COLUMNS, PROGRESS_COLUMNS, valuesOf } from "./run-columns.ts";
import { JOB_COLUMNS, type JobRow } from "./store-deps.ts";

/** What one new run stores. */
export interface NewRunRows {
  readonly origin: RunDefinition;
  readonly change: RunChange;
  readonly jobs: readonly JobRow[];
}

const COLUMNS = [...ORIGIN_COLUMNS, ...PROGRESS_COLUMNS];
const NAMES = COLUMNS.map(({ name }) => name).join(", ");

/** The rows to store, as they were sent: one for each new run. */
const GIVEN = `
  given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS given (
      ${columnTypes(COLUMNS)},
      events jsonb, jobs jsonb,
      api_key_id uuid, sign_in_id uuid, principal_id uuid, key text, request_hash text, answer_status int, answer_body jsonb))`;
/** In a fixed order, so that two statements cannot wait for each other. */
const ALIVE = `
  alive AS MATERIALIZED (${aliveKeys("IN (SELECT api_key_id FROM given)")}),
  signed_in AS MATERIALIZED (
    SELECT id FROM sign_ins WHERE id IN (SELECT sign_in_id FROM given) AND ended_at IS NULL AND expires_at > now() ORDER BY id FOR SHARE)`;
const IS_ALLOWED = `
  (api_key_id IS NULL OR api_key_id IN (SELECT id FROM alive))
  AND (sign_in_id IS NULL OR sign_in_id IN (SELECT id FROM signed_in))`;
/** A team with quotas needs a lock and a count first. */
const HAS_NO_QUOTAS = `
  NOT EXISTS (SELECT FROM teams WHERE teams.id = given.team_id AND quotas IS NOT NULL)`;

function answered(isAllowed: string): string {
  return `
  answered AS (
    INSERT INTO idempotent_responses (principal_id, key, request_hash, status, body, run_id)
    SELECT principal_id, key, request_hash, answer_status, answer_body, id FROM given
    WHERE key IS NOT NULL AND ${isAllowed}
    ON CONFLICT DO NOTHING RETURNING principal_id, key)`;
}

function created(isAllowed: string): string {
  return `
  created AS (
    INSERT INTO runs (${NAMES}, api_key_id, updated_at, last_seq)
    SELECT ${NAMES}, api_key_id, created_at, jsonb_array_length(events) FROM given
    WHERE ${isAllowed} AND (key IS NULL OR (principal_id, key) IN (SELECT principal_id, key FROM answered))
    RETURNING id)`;
}

const LOGGED = `
  logged AS (
    INSERT INTO run_events (run_id, seq, turn, kind, body)
    SELECT id, event.seq, event.turn, event.body ->> 'kind', event.body
    FROM created JOIN given USING (id), jsonb_to_recordset(given.events) AS event (seq int, turn int, body jsonb))`;
const NEW_JOBS = `
  new_jobs AS (
    SELECT job.* FROM created JOIN given USING (id), jsonb_to_recordset(given.jobs) AS job (${JOB_COLUMNS}))`;
/** Texts are separated by a character that no user writes, so that no match spans two of them. */
export const SEARCH_TEXT = "concat_ws(E'\\n\\x01', title, prompt, skill)";
const SEARCHED = `
  searched AS (
    INSERT INTO run_search_texts (run_id, text) SELECT id, ${SEARCH_TEXT} FROM created JOIN given USING (id))`;

/**
 * Stores new runs with their logs, idempotent responses and jobs as one statement, which is one round trip and one
 * transaction. Nothing of a run is stored if there is a response under its idempotency key, the API key was revoked, the
 * sign-in has ended, or the team has quotas that were not checked. Returns the ids of the stored runs. Two runs must not
 * have a response under the same key. `jobSql` is the `sql` of a `JobInsert`.
 */
export async function insertRuns(
  statements: Pick<Statements, "rows">,
  jobSql: string,
  rows: readonly NewRunRows[],
  quotas: "checked" | "unchecked" = "unchecked",
): Promise<ReadonlySet<string>> {
  const made = await statements.rows<{ id: string }>(statementOf(jobSql, rows, quotas));
  return new Set(made.map(({ id }) => id));
}

/** With more rows, one caller would wait too long for the rows of others. */
const INSERTED_TOGETHER_MAX = 32;

/**
 * Stores new runs, several at once if they arrive together. False: a run was not stored, as `insertRuns` says.
 */
export function insertsOf(
  statements: Pick<Statements, "rows">,
  jobSql: string,
): Batcher<NewRunRows, boolean> {
  return new Batcher({
    itemsMax: INSERTED_TOGETHER_MAX,
    keyOf: ({ change: { idempotentResponse: answer }, origin }) =>
      answer === undefined ? origin.id : `${answer.principalId} ${answer.key}`,
    perform: async (rows) => {
      const made = await insertRuns(statements, jobSql, rows).catch((error) => storedBefore(error, rows));
      return rows.map(({ origin }) => made.has(origin.id));
    },
  });
}

/**
 * A run that is tried again after a failed batch may exist already: the database had stored it, and only its answer
 * was late. No other run can have its id. Any other error is rethrown.
 */
function storedBefore(error: unknown, rows: readonly NewRunRows[]): ReadonlySet<string> {
  const isThere = error instanceof pg.DatabaseError && error.constraint === "runs_pkey";
  if (rows.length > 1 || !isThere) {
    throw error;
  }
  return new Set(rows.map(({ origin }) => origin.id));
}

function statementOf(
  jobSql: string,
  rows: readonly NewRunRows[],
  quotas: "checked" | "unchecked",
): Statement {
  const isAllowed = quotas === "checked" ? IS_ALLOWED : `${IS_ALLOWED} AND ${HAS_NO_QUOTAS}`;
  const parts = [
    GIVEN,
    ALIVE,
    answered(isAllowed),
    created(isAllowed),
    LOGGED,
    SEARCHED,
    NEW_JOBS,
    `stored_jobs AS (${jobSql})`,
  ];
  return {
    text: `WITH ${parts.join(",")} SELECT id FROM created`,
    values: [JSON.stringify(rows.map(sentAs))],
  };
}

function sentAs({ change, jobs, origin }: NewRunRows): Readonly<Record<string, unknown>> {
  const { idempotentResponse: answer, apiKeyId, events, progress, signInId } = change;
  return {
    ...valuesOf(ORIGIN_COLUMNS, origin),
    ...valuesOf(PROGRESS_COLUMNS, progress),
    events: events.map(({ turn, body }, index) => ({ seq: index + 1, turn, body })),
    jobs,
    api_key_id: apiKeyId,
    sign_in_id: signInId,
    principal_id: answer?.principalId,
    key: answer?.key,
    request_hash: answer?.requestHash,
    answer_status: answer?.status,
    answer_body: answer?.body,
  };
}
