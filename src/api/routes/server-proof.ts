import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { ApiDeps } from "../api-deps.ts";

const Query = z.object({ nonce: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits") });

/** Answers programs on this machine that check whether this is the server that wrote the data directory. */
export function serverProofRoutes({ proveServer }: Pick<ApiDeps, "proveServer">): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/server-proof", { schema: { hide: true, querystring: Query } }, async ({ query }) => {
      const proof = proveServer(query.nonce);
      if (proof === undefined) {
        throw new AppError("resource_unavailable", "The server is starting.");
      }
      return { proof };
    });
  };
}
