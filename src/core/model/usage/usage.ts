import { invalidMember } from "../../basics/errors.ts";
import type { Viewer } from "../people/principal.ts";
import type { RunSource } from "../runs/sources.ts";

export const USAGE_GROUPS = [
  "day",
  "source",
  "creator",
  "environment",
  "repository",
  "agent",
  "model",
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Sums over the runs that were created in a period and that `viewer` may see. Tests of environments do not count. */
export interface UsageQuery {
  readonly viewer: Viewer;
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly groups: readonly UsageGroup[];
  readonly limit: number;
}

/** Each requested group has its value here. Runs without an environment, for example, form a group without one. */
export interface UsageRow {
  /** `2026-03-01`, in UTC. */
  readonly day?: string;
  readonly source?: RunSource;
  readonly creatorId?: string;
  readonly environmentId?: string;
  /** `owner/name`, in lower case: the repository that the configuration names. */
  readonly repository?: string;
  readonly agent?: string;
  /** The model that the configuration names. */
  readonly model?: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The share of the runs that succeeded, of those that succeeded or failed. Absent: there is none. */
  readonly successRate?: number;
  /** Seconds from the creation to the end of the runs that succeeded. Absent: there is none. */
  readonly medianSecondsToResult?: number;
  readonly p95SecondsToResult?: number;
  /** From the first start to the last end, or to now. */
  readonly runSeconds: number;
  readonly totalTokens: number;
  readonly costUsd: number;
}

const DAY_MS = 24 * 3_600_000;
const DAYS_MAX = 366;
const DAYS_DEFAULT = 30;

export interface UsagePeriod {
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
}

/** The days from `from` to `to`, both included, in UTC. Default: the last thirty days including today. */
export function usagePeriod(
  query: { from?: string | undefined; to?: string | undefined },
  now: Date,
): UsagePeriod {
  const last = query.to === undefined ? startOfDay(now) : dayOf("to", query.to);
  const until = new Date(last.getTime() + DAY_MS);
  const from =
    query.from === undefined ? new Date(until.getTime() - DAYS_DEFAULT * DAY_MS) : dayOf("from", query.from);
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  if (days < 1) {
    throw invalidMember("from", "must not be after to");
  }
  if (days > DAYS_MAX) {
    throw invalidMember("from", `must be at most ${DAYS_MAX} days before the end of to`);
  }
  return { from, until };
}

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Some texts look like a date and are none, such as the 30th of February. */
function dayOf(path: string, text: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = DATE.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isDay || day.getUTCFullYear() < 1) {
    throw invalidMember(path, "must be a date: 2026-03-01");
  }
  return day;
}
