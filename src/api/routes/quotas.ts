import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { TeamId } from "../../core/basics/ids.ts";
import { QuotaService } from "../../core/team/records/quota-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { ListQuotasResponse, listQuotasResponse, quotasOf, SetQuotasRequest } from "../schemas/quota.ts";
import type { Idempotency } from "./idempotency.ts";

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
