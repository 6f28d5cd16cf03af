import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { RunConfig, RunMode } from "../runs/run.ts";

/** Starts a run at each due time, in the name of its creator. */
export interface Schedule extends TeamRecord {
  readonly name: string;
  /** Five fields, UTC. */
  readonly cron: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly mode?: RunMode;
  /** The named agent that executes the runs. */
  readonly agentUid?: PrincipalId;
  readonly config: RunConfig;
  readonly metadata: Readonly<Record<string, string>>;
  readonly teamOwned: boolean;
  readonly creatorId: PrincipalId;
  readonly lastEditorId: PrincipalId;
  /** The next due time, which may have passed already. */
  readonly nextRunAt?: Date;
  /** The time of the last run, never before its due time. */
  readonly lastRanAt?: Date;
  /** Why the last due time started no run. */
  readonly lastSpawnError?: string;
}

export interface Timing {
  readonly now: Date;
  readonly nextDue: NextDue;
}

/**
 * Updates the due time after an edit. A paused schedule has none. A resumed one, or one with a new expression, starts
 * from now, but never before its last run: with a clock that is behind, that time would come due again.
 */
export function timed(schedule: Schedule, before: Schedule | undefined, { now, nextDue }: Timing): Schedule {
  const { nextRunAt: _then, ...untimed } = schedule;
  if (!schedule.enabled) {
    return untimed;
  }
  const isKept = before?.nextRunAt !== undefined && before.cron === schedule.cron;
  const { lastRanAt = now } = schedule;
  return withNext(untimed, isKept ? before.nextRunAt : nextDue(schedule.cron, later(now, lastRanAt)));
}

/** Updates the schedule after it has fired. Missed due times are not repeated. */
export function fired(schedule: Schedule, error: string | undefined, { now, nextDue }: Timing): Schedule {
  const { lastSpawnError: _before, nextRunAt: dueAt = now, ...rest } = schedule;
  const firedAt = later(now, dueAt);
  const outcome = error === undefined ? { lastRanAt: firedAt } : { lastSpawnError: error };
  return withNext({ ...rest, ...outcome }, nextDue(schedule.cron, firedAt));
}

function withNext(schedule: Schedule, nextRunAt: Date | undefined): Schedule {
  return nextRunAt === undefined ? schedule : { ...schedule, nextRunAt };
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

/**
 * The first due time after `after` of a cron expression with five fields, in UTC. Undefined for an invalid expression
 * and for one that never comes due.
 */
export type NextDue = (cron: string, after: Date) => Date | undefined;
