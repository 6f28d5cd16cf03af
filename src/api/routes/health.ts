import type { FastifyPluginAsync } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { ApiDeps } from "../api-deps.ts";

/** Reports whether the process is alive (for restarts) and ready (for load balancing). The log says why it is not. */
export function healthRoutes({ ready }: Pick<ApiDeps, "ready">): FastifyPluginAsync {
  return async (app) => {
    app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "alive" }));
    app.get("/readyz", { schema: { hide: true } }, async () => {
      const reason = await ready();
      if (reason !== undefined) {
        throw new AppError("resource_unavailable", reason);
      }
      return { status: "ready" };
    });
  };
}
