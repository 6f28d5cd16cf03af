import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { problems } from "../schemas/problem.ts";

const FIND = {
  operationId: "getRunByExternalReference",
  summary: "Find the run of a message, an issue or a pull request",
  description:
    "The newest run that this address started, or that made what is at this address. The address of an issue also " +
    "finds the runs that its comments started.",
  tags: ["runs"],
  querystring: z.object({
    url: z.string().describe("The address as the platform shows it, without a `/` at its end."),
  }),
  response: {
    200: z.object({ run_id: z.uuid().describe("The run's id.") }).meta({
      id: "RunReference",
      description: "A run.",
      examples: [{ run_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e" }],
    }),
    ...problems(400, 401, 404, 503),
  },
};

export function externalReferenceRoutes({ runs }: Pick<ApiDeps, "runs">): FastifyPluginAsyncZod {
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    app.get("/agent/run-by-external-reference", { schema: FIND, config }, async (request) => {
      const filters = { externalReference: request.query.url };
      const newest = { sort: "created_at", order: "desc", limit: 1 } as const;
      const { runs: found } = await runs.list({ viewer: viewerOf(request), filters, ...newest });
      const [run] = found;
      if (run === undefined) {
        throw new AppError("resource_not_found", "No run belongs to this address.");
      }
      return { run_id: run.id };
    });
  };
}
