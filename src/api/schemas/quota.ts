import { z } from "zod";
import {
  type Quota as CoreQuota,
  QUOTA_NAMES,
  QUOTA_SCOPES,
  type QuotaUse,
} from "../../core/model/usage/quota.ts";

const LIMIT_MAX = 1_000_000_000;
/** One for each name and scope there is. */
const QUOTAS_MAX = QUOTA_NAMES.length * QUOTA_SCOPES.length;

const EXAMPLE = { name: "runs_per_day", limit: 200, used: 17, scope: "team" } as const;

const Name = z
  .enum(QUOTA_NAMES)
  .describe(
    "`running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. " +
      "`cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.",
  );
const Limit = z
  .number()
  .min(0)
  .max(LIMIT_MAX)
  .describe("A request for a run above it is refused. A run above `running_runs` is accepted, and waits.");
const Scope = z
  .enum(QUOTA_SCOPES)
  .describe("`team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.");

const QuotaItem = z
  .object({
    name: Name,
    limit: Limit,
    used: z
      .number()
      .describe("What is used now. For the scope `key`: by the API key of this request; 0 without one."),
    scope: Scope,
  })
  .meta({ id: "Quota", description: "The most that a team may use.", examples: [EXAMPLE] });

export const ListQuotasResponse = z
  .object({ quotas: z.array(QuotaItem).describe("The quotas that are set. Nothing else is limited.") })
  .meta({
    id: "ListQuotasResponse",
    description: "The quotas of a team with their use.",
    examples: [{ quotas: [EXAMPLE] }],
  });
export type ListQuotasResponse = z.output<typeof ListQuotasResponse>;

const QuotaRequest = z.object({ name: Name, limit: Limit, scope: Scope.default("team") }).meta({
  id: "QuotaRequest",
  description: "A quota to set.",
  examples: [{ name: "runs_per_day", limit: 20, scope: "key" }],
});

export const SetQuotasRequest = z
  .object({
    quotas: z
      .array(QuotaRequest)
      .max(QUOTAS_MAX)
      .describe("All quotas of the team. One that is left out is removed."),
  })
  .meta({
    id: "SetQuotasRequest",
    description: "The quotas of a team.",
    examples: [{ quotas: [{ name: "runs_per_day", limit: 200 }] }],
  });
export type SetQuotasRequest = z.output<typeof SetQuotasRequest>;

export function listQuotasResponse(uses: readonly QuotaUse[]): ListQuotasResponse {
  return { quotas: uses.map(({ limit, name, scope, used }) => ({ name, limit, used, scope })) };
}

export function quotasOf({ quotas }: SetQuotasRequest): readonly CoreQuota[] {
  return quotas.map(({ limit, name, scope }) => ({ name, scope, limit }));
}
