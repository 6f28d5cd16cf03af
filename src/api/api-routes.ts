import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { ApiParts } from "./api-parts.ts";
import { eventRoutes } from "./events/event-routes.ts";
import type { Idempotency } from "./idempotency.ts";
import { cancelRunRoutes } from "./routes/cancel-run.ts";
import { createRunRoutes } from "./routes/create-run.ts";
import { followUpRoutes } from "./routes/follow-ups.ts";
import { readRunRoutes } from "./routes/read-runs.ts";

type Routes = (parts: ApiParts, idempotency: Idempotency) => FastifyPluginAsyncZod;

/** Everything under `/api/v1`, one entry a resource, in the order of the reference page. */
export const apiRoutes: readonly Routes[] = [
  createRunRoutes,
  readRunRoutes,
  followUpRoutes,
  cancelRunRoutes,
  eventRoutes,
];
