import { Taken } from "../core/ports/storage.ts";
import type { RememberedAnswer } from "../core/runs/remembered-answer.ts";
import type { RunOrigin } from "../core/runs/run.ts";
import type { RunChange } from "../core/runs/run-change.ts";
import type { Statement, Statements } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { columnOf } from "./run-columns.ts";
import { originColumns, progressColumns } from "./run-rows.ts";
import type { JobSender } from "./store-parts.ts";

/** A statement of the queue's that stores a job. `$1` is its one value; of null it makes no job. */
interface JobStatement {
  readonly text: string;
  readonly value: unknown;
}

interface NewRunRows {
  readonly origin: RunOrigin;
  readonly change: RunChange;
  readonly jobs: readonly JobStatement[];
}

type Columns = ReturnType<typeof originColumns> & ReturnType<typeof progressColumns>;

/** What the database is to take each value for. */
const TYPES: Readonly<Record<keyof Columns, string>> = {
  id: "uuid",
  teamId: "uuid",
  title: "text",
  prompt: "text",
  context: "text",
  mode: "text",
  source: "text",
  creatorId: "uuid",
  teamOwned: "boolean",
  config: "jsonb",
  agent: "text",
  metadata: "jsonb",
  metadataPairs: "text[]",
  configName: "text",
  modelId: "text",
  environmentId: "text",
  skill: "text",
  skillSnapshot: "jsonb",
  scheduleId: "uuid",
  triggerUrl: "text",
  ancestorIds: "uuid[]",
  conversationId: "uuid",
  continuesId: "uuid",
  sessionId: "uuid",
  provenance: "jsonb",
  createdAt: "timestamptz",
  state: "text",
  statusMessage: "jsonb",
  startedAt: "timestamptz",
  endedAt: "timestamptz",
  turn: "int",
  turnOpen: "boolean",
  attempt: "int",
  lostAttempts: "int",
  agentSession: "text",
  checkpoint: "text",
  permission: "jsonb",
  approval: "jsonb",
  totalTokens: "bigint",
  costUsd: "numeric",
  artifactTypes: "text[]",
  answer: "text",
  lastWrite: "uuid",
};
const MEMBERS = Object.keys(TYPES) as (keyof Columns)[];
const VALUES = MEMBERS.map((member, index) => `$${index + 1}::${TYPES[member]}`);
const CREATED_AT = VALUES[MEMBERS.indexOf("createdAt")];
const RUN_VALUES = MEMBERS.length;

const INSERT_RUN = `
  INSERT INTO runs (${MEMBERS.map(columnOf).join(", ")}, updated_at, last_seq)
  SELECT ${VALUES.join(", ")}, ${CREATED_AT}, jsonb_array_length($${RUN_VALUES + 1}::jsonb)`;
const LOGGED = `
  logged AS (
    INSERT INTO run_events (run_id, seq, turn, kind, body)
    SELECT created.id, event.seq, event.turn, event.body ->> 'kind', event.body
    FROM created, jsonb_to_recordset($${RUN_VALUES + 1}::jsonb) AS event (seq int, turn int, body jsonb))`;
/** The words are kept apart by what nobody writes, so that none is found across them. */
const SEARCHED = `
  searched AS (
    INSERT INTO run_texts (run_id, text)
    SELECT id, concat_ws(E'\\n\\x01', title, prompt, skill) FROM created)`;
const ANSWERED = `
  answered AS (
    INSERT INTO remembered_answers (principal_id, key, request_hash, status, body)
    SELECT $${RUN_VALUES + 2}::uuid, $${RUN_VALUES + 3}, $${RUN_VALUES + 4}, $${RUN_VALUES + 5}::int, $${RUN_VALUES + 6}::jsonb
    ON CONFLICT DO NOTHING RETURNING true)`;

/**
 * Run, log, remembered answer and jobs as one statement: one round trip, and by itself one transaction. All hangs on the
 * answer: if another one is there under its key, no row of this statement is made.
 */
export async function insertRun(statements: Pick<Statements, "rows">, rows: NewRunRows): Promise<void> {
  const made = await statements.rows(statementOf(rows));
  if (made.length === 0) throw new Taken("answer");
}

/** Whether `insertRun` stores all that the new run causes. */
export function isAllInserted(change: RunChange): boolean {
  const { artifacts = [], binding, followUps, inputs = [], notices, settlement, takes } = change;
  const lists = [artifacts, followUps, inputs, notices];
  const others = [binding, settlement, takes];
  return lists.every((list) => list.length === 0) && others.every((other) => other === undefined);
}

/** What the queue would do to store the jobs, not done yet. */
export async function jobStatements(
  sendJobs: JobSender,
  jobs: RunChange["jobs"],
): Promise<readonly JobStatement[]> {
  const statements: JobStatement[] = [];
  const $queryRawUnsafe = async <T>(text: string, value: unknown): Promise<T> => {
    statements.push({ text, value });
    return [{ id: "" }] as T;
  };
  await sendJobs({ $queryRawUnsafe }, jobs);
  return statements;
}

function statementOf({ origin, change, jobs }: NewRunRows): Statement {
  const { answer, events } = change;
  const columns: Columns = { ...originColumns(origin), ...progressColumns(change.progress) };
  const logged = events.map(({ turn, body }, index) => ({ seq: index + 1, turn, body }));
  const values = [
    ...MEMBERS.map((member) => sentAs(member, columns[member])),
    JSON.stringify(logged),
    ...(answer === undefined ? [] : answerValues(answer)),
  ];
  const parts = [
    ...(answer === undefined ? [] : [ANSWERED]),
    `created AS (${INSERT_RUN}${answer === undefined ? "" : " FROM answered"} RETURNING id, title, prompt, skill)`,
    LOGGED,
    SEARCHED,
    ...jobs.map(({ text }, index) => {
      const value = `(SELECT $${values.length + index + 1}::text FROM created)`;
      return `job${index} AS (${text.replaceAll("$1", () => value)})`;
    }),
  ];
  return {
    text: `WITH ${parts.join(", ")} SELECT true FROM created`,
    values: [...values, ...jobs.map(({ value }) => value)],
  };
}

function sentAs(member: keyof Columns, value: unknown): unknown {
  if (value === Prisma.DbNull || value === null) return null;
  return TYPES[member] === "jsonb" ? JSON.stringify(value) : value;
}

function answerValues({ principalId, key, requestHash, status, body }: RememberedAnswer): unknown[] {
  return [principalId, key, requestHash, status, JSON.stringify(body)];
}
