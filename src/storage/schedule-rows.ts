import type { PrincipalId, TeamId } from "../core/ids.ts";
import type { RunConfig } from "../core/runs/run.ts";
import type { Schedule } from "../core/schedules/schedule.ts";
import type { Schedule as ScheduleRow } from "./generated/client.ts";
import { present } from "./present.ts";
import { json } from "./run-rows.ts";

/** Rows of schedules to the domain and back. */
export function scheduleOf(row: ScheduleRow): Schedule {
  return present<Schedule>({
    id: row.id,
    teamId: row.teamId as TeamId,
    name: row.name,
    cron: row.cron,
    enabled: row.enabled,
    prompt: row.prompt,
    config: row.config as RunConfig,
    metadata: row.metadata as Record<string, string>,
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
  const { config, metadata, nextRunAt, lastRanAt, lastSpawnError, ...columns } = schedule;
  return {
    ...columns,
    config: json(config),
    metadata: json(metadata),
    nextRunAt: nextRunAt ?? null,
    lastRanAt: lastRanAt ?? null,
    lastSpawnError: lastSpawnError ?? null,
  };
}
