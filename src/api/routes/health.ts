import type { FastifyPluginAsync } from "fastify";
import type { ApiDeps } from "../api-deps.ts";
import { StatusError } from "../http/errors.ts";

/** For whoever restarts the process (alive) and whoever sends it traffic (ready). */
export function healthRoutes({ ready }: Pick<ApiDeps, "ready">): FastifyPluginAsync {
  return async (app) => {
    app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "alive" }));
    app.get("/readyz", { schema: { hide: true } }, async () => {
      const reason = await ready();
      if (reason !== undefined) throw new StatusError(503, "resource_unavailable", reason);
      return { status: "ready" };
    });
  };
}
