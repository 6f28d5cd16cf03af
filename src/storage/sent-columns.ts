import { Prisma } from "./generated/client.ts";
import { columnOf } from "./run-columns.ts";
import type { originColumns, progressColumns } from "./run-rows.ts";

/** Columns by their members, each with what the database is to take its value for: values are sent to it as JSON. */
export type ColumnTypes = Readonly<Record<string, string>>;

export const ORIGIN_TYPES: Readonly<Record<keyof ReturnType<typeof originColumns>, string>> = {
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
};

export const PROGRESS_TYPES: Readonly<Record<keyof ReturnType<typeof progressColumns>, string>> = {
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

export function columnNames(types: ColumnTypes): readonly string[] {
  return Object.keys(types).map(columnOf);
}

/** As `json_to_record` asks for them. */
export function columnTypes(types: ColumnTypes): string {
  return Object.entries(types)
    .map(([member, type]) => `${columnOf(member)} ${type}`)
    .join(", ");
}

type Member = keyof typeof ORIGIN_TYPES | keyof typeof PROGRESS_TYPES;

const NAMES = Object.keys({ ...ORIGIN_TYPES, ...PROGRESS_TYPES }).map(
  (member) => [member as Member, columnOf(member)] as const,
);

/** The values under the names of their columns, to be sent as JSON. What is left out of that is null: half of a new run. */
export function sentColumns(
  values: Readonly<Partial<Record<Member, unknown>>>,
): Readonly<Record<string, unknown>> {
  const sent: Record<string, unknown> = {};
  for (const [member, column] of NAMES) {
    const value = values[member] ?? Prisma.DbNull;
    if (value !== Prisma.DbNull) sent[column] = value;
  }
  return sent;
}
