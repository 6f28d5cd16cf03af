import type { z } from "zod";
import {
  type ListedRun,
  type Run,
  type RunDefinition,
  type RunProgress,
  UNLISTED_MEMBERS,
} from "../core/model/runs/run.ts";
import type { Prisma, Run as RunRow } from "./generated/client.ts";
import {
  APPROVAL,
  EXECUTED_CONFIG,
  METADATA,
  OUTCOME,
  PAUSE,
  PENDING_PERMISSION,
  PROVENANCE,
  PULL_REQUEST_STATUS,
  RUN_ACTIVITY,
  RUN_CONFIG,
  SKILL,
  SKILLS,
  STATUS_MESSAGE,
  WAITING_FOLLOW_UP,
} from "./json-columns.ts";
import { columnOf, parseJsonColumn, selectList } from "./rows.ts";

/** The statements get all values of a row as one JSON text, so each column says what type its value is cast to. */
type SqlType =
  | "uuid"
  | "uuid[]"
  | "text"
  | "text[]"
  | "boolean"
  | "int"
  | "bigint"
  | "numeric"
  | "timestamptz";

interface JsonColumn<Value> {
  readonly type: "jsonb";
  readonly schema: z.ZodType<Exclude<Value, undefined>>;
}

interface PlainColumn<Value> {
  readonly type: SqlType;
  /** Default: the value as it is, and NULL where it is absent. */
  readonly toRow?: (value: Value) => unknown;
}

interface ConvertedColumn<Value, Stored> extends PlainColumn<Value> {
  readonly fromRow: (stored: NonNullable<Stored>) => Value;
}

/** A JSON column has a schema. A stored value that is not a value of the member has to be converted. */
type ColumnOf<Value, Stored> = [Prisma.JsonValue] extends [Stored]
  ? JsonColumn<Value>
  : [Exclude<Value, undefined>] extends [Readonly<NonNullable<Stored>>]
    ? PlainColumn<Value> | ConvertedColumn<Value, Stored>
    : ConvertedColumn<Value, Stored>;

/** How each member is stored. A column that is not named as its member is named by `field`. */
type Columns<T> = {
  readonly [Member in keyof T]-?: Member extends keyof RunRow
    ? ColumnOf<T[Member], RunRow[Member]>
    : {
        [Field in keyof RunRow]: ColumnOf<T[Member], RunRow[Field]> & { readonly field: Field };
      }[keyof RunRow];
};

/** A list that is never NULL in the row. An empty one is an absent member. */
const LIST = {
  toRow: (values: readonly string[] = []) => values,
  fromRow: (values: readonly string[]) => (values.length === 0 ? undefined : values),
};

/**
 * The table of a run's columns. The insert, the update, the select list and the mapping of rows follow from it: a new
 * column needs one line here, besides `schema.prisma` and its migration.
 */
const ORIGIN: Columns<RunDefinition> = {
  id: { type: "uuid" },
  teamId: { type: "uuid" },
  title: { type: "text" },
  prompt: { type: "text" },
  context: { type: "text" },
  mode: { type: "text" },
  source: { type: "text" },
  creatorId: { type: "uuid" },
  executorId: { type: "uuid" },
  requesterId: { type: "uuid" },
  secretNames: { type: "text[]", ...LIST },
  teamOwned: { type: "boolean" },
  config: { type: "jsonb", schema: RUN_CONFIG },
  agent: { type: "text" },
  metadata: { type: "jsonb", schema: METADATA },
  skill: { type: "text" },
  skillSnapshot: { type: "jsonb", schema: SKILL },
  skillSnapshots: { type: "jsonb", schema: SKILLS },
  scheduleId: { type: "uuid" },
  triggerUrl: { type: "text" },
  ancestorIds: { type: "uuid[]" },
  conversationId: { type: "uuid" },
  continuesId: { type: "uuid", field: "continuesRunId" },
  sessionId: { type: "uuid" },
  provenance: { type: "jsonb", schema: PROVENANCE },
  preparesOnly: { type: "boolean" },
  queueClass: { type: "int" },
  createdAt: { type: "timestamptz" },
};

const PROGRESS: Columns<RunProgress> = {
  state: { type: "text" },
  stateSince: { type: "timestamptz" },
  statusMessage: { type: "jsonb", schema: STATUS_MESSAGE },
  startedAt: { type: "timestamptz" },
  endedAt: { type: "timestamptz" },
  turn: { type: "int" },
  turnOpen: { type: "boolean" },
  attempt: { type: "int" },
  lostAttempts: { type: "int" },
  agentSession: { type: "text", field: "agentSessionId" },
  agentWorkspace: { type: "text" },
  disk: { type: "text" },
  agentVersion: { type: "text" },
  checkpoint: { type: "text" },
  workCheckpoint: { type: "text" },
  checkpointDelta: { type: "text" },
  checkpointAt: { type: "timestamptz" },
  checkpointGaps: { type: "text" },
  permission: { type: "jsonb", schema: PENDING_PERMISSION },
  pause: { type: "jsonb", schema: PAUSE },
  debugUntil: { type: "timestamptz" },
  approval: { type: "jsonb", schema: APPROVAL },
  executes: { type: "jsonb", schema: EXECUTED_CONFIG },
  waitingFollowUp: { type: "jsonb", schema: WAITING_FOLLOW_UP },
  totalTokens: { type: "bigint", fromRow: Number },
  costUsd: { type: "numeric", fromRow: Number },
  artifactTypes: {
    type: "text[]",
    toRow: (types = []) => types,
    fromRow: (types) => (types.length === 0 ? undefined : types),
  },
  pullRequest: { type: "text" },
  pullRequestStatus: { type: "jsonb", schema: PULL_REQUEST_STATUS },
  startAfter: { type: "timestamptz" },
  slotWaitMs: { type: "int" },
  activity: { type: "jsonb", schema: RUN_ACTIVITY },
  othersWrote: { type: "boolean" },
  earlyFollowUps: { type: "boolean" },
  answer: { type: "text" },
  warnings: { type: "text[]", ...LIST },
  outcome: { type: "jsonb", schema: OUTCOME },
  lastWrite: { type: "uuid", field: "lastWriteId" },
};

/** The statements compute these two. */
const COMPUTED: Columns<Pick<Run, "updatedAt" | "lastSeq">> = {
  updatedAt: { type: "timestamptz" },
  lastSeq: { type: "int" },
};

/** Columns that only the filters of the list use. They repeat values of other columns and are never read. */
const FILTERS: Partial<Record<keyof RunRow, PlainColumn<RunDefinition>>> = {
  metadataPairs: { type: "text[]", toRow: ({ metadata }) => pairsOf(metadata) },
  configName: { type: "text", toRow: ({ config }) => config.name },
  modelId: { type: "text", toRow: ({ config }) => config.harness?.model_id ?? config.model_id },
  environmentId: { type: "text", toRow: ({ config }) => config.environment_id },
};

/** A column as the statements write it. */
export interface WrittenColumn<Source> {
  readonly name: string;
  readonly type: string;
  /** The value that a row gets. */
  readonly valueIn: (source: Source) => unknown;
}

interface ReadColumn {
  readonly member: keyof Run;
  readonly field: keyof RunRow;
  readonly type: string;
  readonly fromRow: ((stored: never, runId: string) => unknown) | undefined;
}

/** A column whatever its member: the compiler has checked the tables above, and here they are only walked through. */
interface AnyColumn {
  readonly type: string;
  readonly field?: string;
  readonly toRow?: (value: unknown) => unknown;
  readonly fromRow?: (stored: never) => unknown;
  readonly schema?: z.ZodType;
}

/** What a new run stores of its origin. */
export const ORIGIN_COLUMNS: readonly WrittenColumn<RunDefinition>[] = [
  ...writtenColumns<RunDefinition>(ORIGIN),
  ...Object.entries(FILTERS).map(([field, { type, toRow }]) => ({
    name: columnOf(field),
    type,
    valueIn: toRow ?? (() => undefined),
  })),
];

/** What a new run and each change of a run store. */
export const PROGRESS_COLUMNS = writtenColumns<RunProgress>(PROGRESS);

/** A lease is one member of a run. */
const LEASE_FIELDS = ["leaseToken", "leaseWorker"] as const;

const READ_COLUMNS = readColumns({ ...ORIGIN, ...PROGRESS, ...COMPUTED });

const UNLISTED: ReadonlySet<keyof Run> = new Set(UNLISTED_MEMBERS);
const LISTED_COLUMNS = READ_COLUMNS.filter(({ member }) => !UNLISTED.has(member));

/** The select lists for rows that `runOf` and `listedRunOf` take. */
export const RUN_COLUMNS = selectListOf(READ_COLUMNS);
export const LISTED_RUN_COLUMNS = selectListOf(LISTED_COLUMNS);

/** The bytes of the prompt and the JSON values of a row with `LISTED_RUN_COLUMNS`. */
export const LISTED_RUN_LENGTH = LISTED_COLUMNS.filter(mayBeLong)
  .map(({ field, type }) => lengthOf(`"${field}"`, type))
  .join(" + ");

/**
 * A select list over rows with `LISTED_RUN_COLUMNS` and `length`. The prompt and the JSON values of rows that are longer
 * than `max` are null.
 */
export function shortRunColumns(max: number): string {
  const fields = LISTED_COLUMNS.map((column) => {
    const name = `"${column.field}"`;
    return mayBeLong(column) ? `CASE WHEN length <= ${max} THEN ${name} END AS ${name}` : name;
  });
  return [...fields, ...LEASE_FIELDS.map((field) => `"${field}"`)].join(", ");
}

/** The other texts of a listed run have at most a few thousand characters. */
function mayBeLong({ member, type }: ReadColumn): boolean {
  return type === "jsonb" || member === "prompt";
}

export function runOf(row: RunRow): Run {
  return read<Run>(row, READ_COLUMNS);
}

/** Reading a row costs as much as it has columns, and a list has many rows. */
export function listedRunOf(row: RunRow): ListedRun {
  return read<ListedRun>(row, LISTED_COLUMNS);
}

function selectListOf(columns: readonly ReadColumn[]): string {
  return selectList([...columns.map(({ field }) => field), ...LEASE_FIELDS]);
}

/** The database measures texts without unpacking them. It must unpack a JSON value only if that is compressed. */
function lengthOf(name: string, type: string): string {
  const isPlain = `pg_column_compression(${name}) IS NULL`;
  const json = `CASE WHEN ${isPlain} THEN pg_column_size(${name}) ELSE octet_length(${name}::text) END`;
  return `coalesce(${type === "text" ? `octet_length(${name})` : json}, 0)`;
}

/** The columns have all members of `T`. */
function read<T extends ListedRun>(row: RunRow, columns: readonly ReadColumn[]): T {
  const run: Partial<Record<keyof Run, unknown>> = {};
  for (const { member, field, fromRow } of columns) {
    const stored = row[field];
    if (stored === null) {
      continue;
    }
    const value = fromRow === undefined ? stored : fromRow(stored as never, row.id);
    if (value !== undefined) {
      run[member] = value;
    }
  }
  const { leaseToken, leaseWorker } = row;
  if (leaseToken !== null) {
    run.lease = { token: leaseToken, worker: leaseWorker ?? "" };
  }
  return run as T;
}

/** The values by the names of their columns, to be sent as JSON. An absent value is left out and becomes NULL. */
export function valuesOf<Source>(
  columns: readonly WrittenColumn<Source>[],
  source: Source,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, valueIn } of columns) {
    const value = valueIn(source);
    if (value !== undefined) {
      values[name] = value;
    }
  }
  return values;
}

/** The column definitions that `json_to_record` asks for. */
export function columnTypes(columns: readonly Pick<WrittenColumn<never>, "name" | "type">[]): string {
  return columns.map(({ name, type }) => `${name} ${type}`).join(", ");
}

function writtenColumns<T>(columns: Columns<T>): readonly WrittenColumn<T>[] {
  return entriesOf(columns).map(([member, { field = member, toRow, type }]) => {
    const read = (source: T) => source[member];
    return {
      name: columnOf(field),
      type,
      valueIn: toRow === undefined ? read : (source) => toRow(read(source)),
    };
  });
}

function readColumns(columns: Columns<Omit<Run, "lease">>): readonly ReadColumn[] {
  return entriesOf(columns).map(([member, { field = member, fromRow, schema, type }]) => {
    const column = columnOf(field);
    return {
      type,
      member,
      field: field as keyof RunRow,
      fromRow:
        schema === undefined
          ? fromRow
          : (stored: unknown, id: string) => parseJsonColumn(schema, stored, { table: "runs", id, column }),
    };
  });
}

function entriesOf<T>(columns: Columns<T>): readonly (readonly [keyof T & string, AnyColumn])[] {
  return Object.entries(columns) as unknown as readonly (readonly [keyof T & string, AnyColumn])[];
}

/** Each metadata pair as the filters of the list look for it. */
export function pairsOf(metadata: Readonly<Record<string, string>>): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
}
