import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ApiDeps } from "../api-deps.ts";
import { problems } from "../schemas/problem.ts";

const GET = {
  operationId: "getEgressRanges",
  summary: "Get the networks from which agents connect",
  description: "What the operator has configured with `ERRAND_EGRESS_RANGES`.",
  tags: ["agents"],
  response: {
    200: z
      .object({ cidrs: z.array(z.string()).describe("IPv4 and IPv6 networks, such as `203.0.113.0/24`.") })
      .meta({
        id: "EgressRanges",
        description: "The networks from which agents connect to other servers.",
        examples: [{ cidrs: ["203.0.113.0/24"] }],
      }),
    ...problems(401, 503),
  },
};

export function egressRangeRoutes({ egressRanges }: Pick<ApiDeps, "egressRanges">): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/networking/egress-ranges", { schema: GET, config: { scope: "runs:read" } }, async () => ({
      cidrs: [...egressRanges],
    }));
  };
}
