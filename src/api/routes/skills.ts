import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { parseRepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { SkillQuery } from "../../core/requests/skills/skill-catalogue.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { problems } from "../schemas/problem.ts";
import { agentSkillOf, ListAgentsQuery, ListAgentsResponse } from "../schemas/skills.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";

const LIST = {
  operationId: "listAgents",
  summary: "List skills",
  tags: ["skills"],
  querystring: ListAgentsQuery.extend(PageQuery.shape),
  response: { 200: ListAgentsResponse, ...problems(400, 401, 404, 422, 503) },
};

export function skillRoutes({ skills }: Pick<ApiDeps, "skills">): FastifyPluginAsyncZod {
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    app.get("/agent", { schema: LIST, config: { ...config, collection: "agents" } }, async (request) => {
      const groups = await skills.list(viewerOf(request), queryOf(request.query));
      return { agents: groups.map(agentSkillOf), ...WHOLE };
    });
  };
}

function queryOf({ refresh, repo = "", sort_by: sort }: ListAgentsQuery): SkillQuery {
  return { repository: parseRepositoryName(repo), freshness: refresh === "true" ? "now" : "recent", sort };
}
