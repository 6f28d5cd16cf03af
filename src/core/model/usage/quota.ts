import { AppError, TooMany } from "../../basics/errors.ts";

/**
 * `running_runs`: runs that have a slot of a worker now. `queued_runs`: runs that wait for a worker now. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`:
 * what the runs created since the first of the month, UTC, have cost so far.
 */
export const QUOTA_NAMES = ["running_runs", "queued_runs", "runs_per_day", "cost_usd_per_month"] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

/** `team`: the runs of the team count together. `key`: those that one API key created. */
export const QUOTA_SCOPES = ["team", "key"] as const;
export type QuotaScope = (typeof QUOTA_SCOPES)[number];

/** The most that a team may use. A run that would exceed it is not created, or not begun in the case of `running_runs`. */
export interface Quota {
  readonly name: QuotaName;
  readonly scope: QuotaScope;
  readonly limit: number;
}

export interface QuotaUse extends Quota {
  readonly used: number;
}

/** The only quota that can be set for each key. */
const PER_KEY: QuotaName = "runs_per_day";

/** Undefined: there can be such a quota. */
export function problemOfQuota({ limit, name, scope }: Quota): string | undefined {
  if (scope === "key" && name !== PER_KEY) {
    return `only ${PER_KEY} can be set for each key`;
  }
  return name === "cost_usd_per_month" || Number.isInteger(limit)
    ? undefined
    : "must be a whole number for this quota";
}

/** The beginnings of the periods that a moment belongs to. */
export function quotaPeriods(at: Date): { readonly day: Date; readonly month: Date } {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return { day: new Date(Date.UTC(year, month, day)), month: new Date(Date.UTC(year, month, 1)) };
}

/**
 * Throws if one more run would exceed a quota. A full queue becomes free by itself; the others end with their period. A
 * run above `running_runs` is created, and waits.
 */
export function requireWithinQuotas(uses: readonly QuotaUse[]): void {
  const full = uses.filter(isOfCreation).find(({ limit, used }) => used >= limit);
  if (full === undefined) {
    return;
  }
  const message = refusalText(full);
  if (full.name === "queued_runs") {
    throw new TooMany(message, { retryAfterMs: QUEUE_RETRY_MS, remedy: QUEUE_REMEDY });
  }
  throw new AppError("budget_exceeded", message, { remedy: PERIOD_REMEDIES[full.name] });
}

const QUEUE_RETRY_MS = 10_000;
const QUEUE_REMEDY = "Wait until queued runs have begun, or ask an operator to raise the quota.";
const PERIOD_REMEDIES = {
  runs_per_day: "Wait until midnight, UTC, or ask an operator to raise the quota.",
  cost_usd_per_month: "Wait until the first of the next month, UTC, or ask an operator to raise the quota.",
} as const satisfies Record<Exclude<CreationQuotaName, "queued_runs">, string>;

type CreationQuotaName = Exclude<QuotaName, "running_runs">;
type CreationQuotaUse = QuotaUse & { readonly name: CreationQuotaName };

function isOfCreation(use: QuotaUse): use is CreationQuotaUse {
  return use.name !== "running_runs";
}

function refusalText({ limit, name, scope, used }: CreationQuotaUse): string {
  const whose = scope === "key" ? "this API key" : "the team";
  switch (name) {
    case "queued_runs":
      return `The quota queued_runs of ${whose} is used up: ${used} of ${limit} runs wait for a worker.`;
    case "runs_per_day":
      return `The quota runs_per_day of ${whose} is used up: ${used} of ${limit} runs were created today (UTC).`;
    case "cost_usd_per_month":
      return `The quota cost_usd_per_month of ${whose} is used up: ${used.toFixed(2)} of ${limit} USD were spent this month (UTC).`;
    default:
      return name satisfies never;
  }
}
