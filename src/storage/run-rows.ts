import type { ArtifactType } from "../core/artifacts/artifact.ts";
import type { LeaseToken, PrincipalId, RunId, TeamId, ThreadKey } from "../core/ids.ts";
import type { RunEvent, RunEventBody } from "../core/runs/events.ts";
import type {
  Approval,
  FollowUp,
  FollowUpDelivery,
  PendingPermission,
  Run,
  RunConfig,
  RunMode,
  RunOrigin,
  RunProgress,
  StatusMessage,
} from "../core/runs/run.ts";
import type { RunSource } from "../core/runs/sources.ts";
import type { RunState } from "../core/runs/states.ts";
import type { Skill } from "../core/skills/skill.ts";
import type { StoredThread, Verbosity } from "../core/threads/thread.ts";
import type {
  FollowUp as FollowUpRow,
  RunEvent as RunEventRow,
  Run as RunRow,
  Thread as ThreadRow,
} from "./generated/client.ts";
import { Prisma } from "./generated/client.ts";
import { type Nullable, present } from "./present.ts";

/** Rows to domain and back. */
export function runOf(row: RunRow): Run {
  return present<Run>({
    id: row.id as RunId,
    teamId: row.teamId as TeamId,
    title: row.title,
    prompt: row.prompt,
    context: row.context,
    mode: row.mode as RunMode | null,
    source: row.source as RunSource,
    creatorId: row.creatorId as PrincipalId,
    teamOwned: row.teamOwned,
    config: row.config as RunConfig,
    agent: row.agent,
    metadata: row.metadata as Record<string, string>,
    skill: row.skill,
    skillSnapshot: row.skillSnapshot as Skill | null,
    scheduleId: row.scheduleId,
    triggerUrl: row.triggerUrl,
    ancestorIds: row.ancestorIds as RunId[],
    conversationId: row.conversationId,
    continuesId: row.continuesId as RunId | null,
    sessionId: row.sessionId,
    provenance: row.provenance as Record<string, unknown>,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastSeq: row.lastSeq,
    lease:
      row.leaseToken === null ? null : { token: row.leaseToken as LeaseToken, worker: row.leaseWorker ?? "" },
    ...progressOf(row),
  });
}

function progressOf(row: RunRow): Nullable<RunProgress> {
  return {
    state: row.state as RunState,
    statusMessage: row.statusMessage as StatusMessage | null,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    turn: row.turn,
    turnOpen: row.turnOpen,
    attempt: row.attempt,
    lostAttempts: row.lostAttempts,
    agentSession: row.agentSession,
    checkpoint: row.checkpoint,
    permission: row.permission as PendingPermission | null,
    approval: row.approval as Approval | null,
    totalTokens: Number(row.totalTokens),
    costUsd: row.costUsd === null ? null : Number(row.costUsd),
    artifactTypes: row.artifactTypes.length === 0 ? null : (row.artifactTypes as ArtifactType[]),
    answer: row.answer,
    lastWrite: row.lastWrite,
  };
}

export function originColumns(origin: RunOrigin) {
  const { config } = origin;
  return {
    id: origin.id,
    teamId: origin.teamId,
    title: origin.title,
    prompt: origin.prompt,
    context: origin.context ?? null,
    mode: origin.mode ?? null,
    source: origin.source,
    creatorId: origin.creatorId,
    teamOwned: origin.teamOwned,
    config: json(config),
    agent: origin.agent,
    metadata: json(origin.metadata),
    metadataPairs: Object.entries(origin.metadata).map(([key, value]) => `${key}=${value}`),
    configName: config.name ?? null,
    modelId: config.harness?.model_id ?? config.model_id ?? null,
    environmentId: config.environment_id ?? null,
    skill: origin.skill ?? null,
    skillSnapshot: origin.skillSnapshot === undefined ? Prisma.DbNull : json(origin.skillSnapshot),
    scheduleId: origin.scheduleId ?? null,
    triggerUrl: origin.triggerUrl ?? null,
    ancestorIds: [...origin.ancestorIds],
    conversationId: origin.conversationId,
    continuesId: origin.continuesId ?? null,
    sessionId: origin.sessionId,
    provenance: json(origin.provenance),
    createdAt: origin.createdAt,
  };
}

export function progressColumns(progress: RunProgress) {
  return {
    state: progress.state,
    statusMessage: progress.statusMessage === undefined ? Prisma.DbNull : json(progress.statusMessage),
    startedAt: progress.startedAt ?? null,
    endedAt: progress.endedAt ?? null,
    turn: progress.turn,
    turnOpen: progress.turnOpen,
    attempt: progress.attempt,
    lostAttempts: progress.lostAttempts,
    agentSession: progress.agentSession ?? null,
    checkpoint: progress.checkpoint ?? null,
    permission: progress.permission === undefined ? Prisma.DbNull : json(progress.permission),
    approval: progress.approval === undefined ? Prisma.DbNull : json(progress.approval),
    totalTokens: progress.totalTokens,
    costUsd: progress.costUsd ?? null,
    artifactTypes: [...(progress.artifactTypes ?? [])],
    answer: progress.answer ?? null,
    lastWrite: progress.lastWrite ?? null,
  };
}

export function eventOf(row: RunEventRow): RunEvent {
  const { runId, seq, turn, at } = row;
  return { runId: runId as RunId, seq, turn, at, body: row.body as RunEventBody };
}

export function followUpOf(row: FollowUpRow): FollowUp {
  return present<FollowUp>({
    id: row.id,
    runId: row.runId as RunId,
    seq: row.seq,
    message: row.message,
    mode: row.mode as RunMode | null,
    delivery: row.delivery as FollowUpDelivery,
    private: row.private,
    authorId: row.authorId as PrincipalId,
    createdAt: row.createdAt,
    turn: row.turn,
  });
}

export function threadOf(row: ThreadRow): StoredThread {
  const { id, adapter, createdAt, installation } = row;
  return present<StoredThread>({
    id,
    adapter,
    installation,
    key: row.key as ThreadKey,
    runId: row.runId as RunId | null,
    verbosity: row.verbosity as Verbosity,
    createdAt,
  });
}

/** Values for a JSON column; the types of Prisma know no readonly. */
export function json(value: unknown): Prisma.InputJsonValue {
  return value as Prisma.InputJsonValue;
}
