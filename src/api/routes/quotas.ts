import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { TeamId } from "../../core/basics/ids.ts";
import {
  type Quota as CoreQuota,
  QUOTA_NAMES,
  QUOTA_SCOPES,
  type QuotaUse,
} from "../../core/model/usage/quota.ts";
import { QuotaService } from "../../core/team/records/quota-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

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

const ListQuotasResponse = z
  .object({ quotas: z.array(QuotaItem).describe("The quotas that are set. Nothing else is limited.") })
  .meta({
    id: "ListQuotasResponse",
    description: "The quotas of a team with their use.",
    examples: [{ quotas: [EXAMPLE] }],
  });
type ListQuotasResponse = z.output<typeof ListQuotasResponse>;

const QuotaRequest = z.object({ name: Name, limit: Limit, scope: Scope.default("team") }).meta({
  id: "QuotaRequest",
  description: "A quota to set.",
  examples: [{ name: "runs_per_day", limit: 20, scope: "key" }],
});

const SetQuotasRequest = z
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
type SetQuotasRequest = z.output<typeof SetQuotasRequest>;

function listQuotasResponse(uses: readonly QuotaUse[]): ListQuotasResponse {
  return { quotas: uses.map(({ limit, name, scope, used }) => ({ name, limit, used, scope })) };
}

function quotasOf({ quotas }: SetQuotasRequest): readonly CoreQuota[] {
  return quotas.map(({ limit, name, scope }) => ({ name, scope, limit }));
}

const GET = {
  operationId: "listQuotas",
  summary: "List quotas",
  description: "The quotas of the caller's team, with their use.",
  tags: ["operations"],
  response: { 200: ListQuotasResponse, ...problems(401, 403, 503) },
};

const PUT = {
  operationId: "setQuotas",
  summary: "Set the quotas of a team",
  description:
    "For operators. Replaces all quotas of the team. They count from now on for each new run, also for those of " +
    "schedules and of messages in threads. Runs that exist go on.",
  tags: ["operations"],
  params: z.object({ uid: z.string().describe("The team's uid.") }),
  body: SetQuotasRequest,
  response: { 200: ListQuotasResponse, ...problems(400, 401, 403, 404, 503) },
};

export function quotaRoutes(
  { clock, storage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const service = new QuotaService({ clock, storage });
  return async (app) => {
    app.get("/agent/quotas", { schema: GET, config: { scope: "settings:read" } }, async (request) =>
      listQuotasResponse(await service.list(viewerOf(request), holderOf(request).key?.id)),
    );
    const config = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;
    app.put("/agent/teams/:uid/quotas", { schema: PUT, config }, async (request, reply) => {
      const teamId = requireId<TeamId>(request.params.uid, "team");
      const [viewer, keyId] = [viewerOf(request), holderOf(request).key?.id];
      return idempotency.writeOnce(request, reply, {
        operation: "teams.quotas",
        target: teamId,
        perform: async (stores) => {
          const within = new QuotaService({ clock, storage: stores });
          return listQuotasResponse(await within.replace(viewer, teamId, quotasOf(request.body), keyId));
        },
      });
    });
  };
}
