import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AppError } from "../../core/basics/errors.ts";
import { usagePeriod } from "../../core/model/usage/usage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { problems } from "../schemas/problem.ts";
import { UsageQuery, UsageResponse, usageItem } from "../schemas/usage.ts";

const ROWS_MAX = 10_000;

const GET = {
  operationId: "getUsage",
  summary: "Get the usage of runs",
  description:
    "The totals of the runs that you can see: for administrators all runs of the team, for members the team's " +
    "runs and their own.",
  tags: ["operations"],
  querystring: UsageQuery,
  response: { 200: UsageResponse, ...problems(400, 401, 503) },
};

export function usageRoutes({
  clock,
  storage: { reports },
}: Pick<ApiDeps, "clock" | "storage">): FastifyPluginAsyncZod {
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    app.get("/agent/usage", { schema: GET, config }, async (request) => {
      const { group_by, ...days } = request.query;
      const period = usagePeriod(days, clock.now());
      const groups = [...new Set(group_by)];
      const rows = await reports.usage({ viewer: viewerOf(request), ...period, groups, limit: ROWS_MAX + 1 });
      if (rows.length > ROWS_MAX) {
        throw tooMany();
      }
      return { usage: rows.map(usageItem) };
    });
  };
}

function tooMany(): AppError {
  return new AppError("invalid_request", `The result has more than ${ROWS_MAX} groups.`, {
    remedy: "Request fewer days, or fewer members in group_by.",
  });
}
