import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import type { TeamId } from "../../core/basics/ids.ts";
import type { AuditQuery } from "../../core/ports/stores/audit-log.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { auditItem, ListAuditQuery, ListAuditResponse } from "../schemas/audit.ts";
import { problems } from "../schemas/problem.ts";

const LIST = {
  operationId: "listAuditEntries",
  summary: "List the changes to settings, people and keys",
  description:
    "One entry for each object that changed: keys, secrets, policies, routing rules, principals, identity links, " +
    "named agents, the team, installations, environments, MCP servers, webhooks, schedules, share links, and " +
    "approvals. An entry is stored in the transaction of its change. No operation changes or deletes entries.",
  tags: ["operations"],
  querystring: ListAuditQuery,
  response: { 200: ListAuditResponse, ...problems(400, 401, 403, 503) },
};

export function auditRoutes({
  sessionSecret,
  storage,
}: Pick<ApiDeps, "sessionSecret" | "storage">): FastifyPluginAsyncZod {
  const cursors = new SignedCursors(sessionSecret, "audit cursor");
  return async (app) => {
    const config = { scope: "admin", acceptsCookie: true } as const;
    app.get("/agent/audit", { schema: LIST, config }, async (request): Promise<ListAuditResponse> => {
      const { cursor, limit } = request.query;
      const query = queryOf(request.query, viewerOf(request).teamId);
      const before = cursor === undefined ? {} : { before: BigInt(cursors.decode(cursor, [query])) };
      const { entries, hasMore } = await storage.auditLog.list({ ...query, ...before, limit });
      const last = hasMore ? entries.at(-1) : undefined;
      return { entries: entries.map(auditItem), page_info: cursors.pageInfo(last, [query]) };
    });
  };
}

function queryOf(query: ListAuditQuery, teamId: TeamId): Omit<AuditQuery, "limit" | "before"> {
  const { action, actor, created_after, created_before, target_id, target_type } = query;
  return defined({
    teamId,
    actor,
    action,
    targetType: target_type,
    targetId: target_id,
    createdAfter: created_after,
    createdBefore: created_before,
  });
}
