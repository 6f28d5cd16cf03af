import type { FastifyPluginAsync } from "fastify";
import type { ApiDeps } from "../api-deps.ts";
import { StatusError } from "../http/errors.ts";

/** Reports whether the process is alive (for restarts) and ready (for load balancing). */
export function healthRoutes({ ready }: Pick<ApiDeps, "ready">): FastifyPluginAsync {
  return async (app) => {
    app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "alive" }));
    app.get("/readyz", { schema: { hide: true } }, async () => {
      const reason = await ready();
      if (reason !== undefined) {
        throw new StatusError(503, "resource_unavailable", reason);
      }
      return { status: "ready" };
    });
  };
}
