import type { FastifyPluginAsync } from "fastify";
import type { ApiParts } from "../api-parts.ts";
import { StatusError } from "../errors.ts";

/** For whoever restarts the process (alive) and whoever sends it traffic (ready). */
export function healthRoutes({ ready }: Pick<ApiParts, "ready">): FastifyPluginAsync {
  return async (app) => {
    app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "alive" }));
    app.get("/readyz", { schema: { hide: true } }, async () => {
      const reason = await ready();
      if (reason !== undefined) throw new StatusError(503, "resource_unavailable", reason);
      return { status: "ready" };
    });
  };
}
