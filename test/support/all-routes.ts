import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";

const CREATED = "fastify.initialization";

/** All routes of the servers that are created during `work`, including undocumented ones. */
export async function collectRoutes(work: () => Promise<unknown>): Promise<readonly RouteOptions[]> {
  const routes: RouteOptions[] = [];
  const hear = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook("onRoute", (route) => void routes.push(route));
  };
  subscribe(CREATED, hear);
  try {
    await work();
  } finally {
    unsubscribe(CREATED, hear);
  }
  return routes;
}

/**
 * Each method of each route without the API's prefix, such as `GET /agent/runs/:runId`. HEAD is left out, because GET
 * implies it.
 */
export function namesOf(routes: readonly RouteOptions[]): readonly string[] {
  const names = routes.flatMap(({ method, url }) =>
    [method].flat().map((one) => `${one} ${url.replace(/^\/api\/v1(?=\/agent)/, "")}`),
  );
  return names.filter((name) => !name.startsWith("HEAD "));
}
