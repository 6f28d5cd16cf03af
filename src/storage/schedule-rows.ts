import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { RunMode } from "../core/model/runs/run.ts";
import type { Schedule } from "../core/model/schedules/schedule.ts";
import type { Schedule as ScheduleRow } from "./generated/client.ts";
import { METADATA, RUN_CONFIG } from "./json-columns.ts";
import { parseJsonColumn, toJson, withoutNulls } from "./rows.ts";

/** Rows of schedules to the domain and back. */
export function scheduleOf(row: ScheduleRow): Schedule {
  const location = { table: "schedules", id: row.id } as const;
  return withoutNulls<Schedule>({
    id: row.id,
    teamId: row.teamId as TeamId,
    name: row.name,
    cron: row.cron,
    enabled: row.enabled,
    prompt: row.prompt,
    mode: row.mode as RunMode | null,
    agentUid: row.agentUid as PrincipalId | null,
    config: parseJsonColumn(RUN_CONFIG, row.config, { ...location, column: "config" }),
    metadata: parseJsonColumn(METADATA, row.metadata, { ...location, column: "metadata" }),
    teamOwned: row.teamOwned,
    creatorId: row.creatorId as PrincipalId,
    lastEditorId: row.lastEditorId as PrincipalId,
    nextRunAt: row.nextRunAt,
    lastRanAt: row.lastRanAt,
    lastSpawnError: row.lastSpawnError,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  });
}

export function scheduleColumns(schedule: Schedule) {
  const { agentUid, config, metadata, mode, nextRunAt, lastRanAt, lastSpawnError, ...columns } = schedule;
  return {
    ...columns,
    mode: mode ?? null,
    agentUid: agentUid ?? null,
    config: toJson(config),
    metadata: toJson(metadata),
    nextRunAt: nextRunAt ?? null,
    lastRanAt: lastRanAt ?? null,
    lastSpawnError: lastSpawnError ?? null,
  };
}
