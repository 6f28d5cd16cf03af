import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { WebhookDeliveries } from "../../core/team/webhooks/webhook-deliveries.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListWebhookDeliveriesQuery,
  ListWebhookDeliveriesResponse,
  WebhookDelivery,
  webhookDeliveryOf,
} from "../schemas/webhook-deliveries.ts";
import type { Idempotency } from "./idempotency.ts";
import { pageOf } from "./webhook-deliveries.ts";

const PATH = "/agent/runs/:runId/webhook-deliveries";
const tags = ["webhooks"];

const LIST = {
  operationId: "listRunWebhookDeliveries",
  summary: "List the deliveries to the webhook of a run",
  description: "The list is empty if the run was created without `webhook`.",
  tags,
  params: RunParams,
  querystring: ListWebhookDeliveriesQuery,
  response: { 200: ListWebhookDeliveriesResponse, ...problems(400, 401, 403, 404, 503) },
};
const REPLAY = {
  operationId: "replayRunWebhookDelivery",
  summary: "Send a delivery to the webhook of a run again, in any state",
  description: "If the webhook was disabled because it failed, it is enabled again.",
  tags,
  params: RunParams.extend({ deliveryId: z.string().describe("The delivery's id.") }),
  response: { 200: WebhookDelivery, ...problems(401, 403, 404, 422, 503) },
};

export function runWebhookRoutes(
  { clock, runs, sessionSecret, storage }: Pick<ApiDeps, "clock" | "runs" | "sessionSecret" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const deliveries = new WebhookDeliveries({ storage, clock });
  const cursors = new SignedCursors(sessionSecret, "run webhook delivery cursor");
  return async (app) => {
    const reading = { scope: "runs:read" } as const;
    app.get(PATH, { schema: LIST, config: reading }, async (request) => {
      const { id } = await runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const { cursor, limit, state } = request.query;
      const listing = [id, state ?? null];
      const after = cursor === undefined ? {} : { after: cursors.decode(cursor, listing) };
      // One more than the page has, to find out whether there is a next page.
      const rows = await deliveries.listOfRun(id, {
        ...defined({ state }),
        ...after,
        limit: limit + 1,
      });
      return pageOf(rows, limit, (last) => cursors.encode(last, listing));
    });
    const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
    app.post(`${PATH}/:deliveryId/replay`, { schema: REPLAY, config: writing }, async (request, reply) => {
      const { id: runId } = await runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const id = requireId(request.params.deliveryId, "delivery");
      return idempotency.writeOnce(request, reply, {
        operation: "runs.replay-webhook",
        target: `${runId} ${id}`,
        runId,
        perform: async (storage) =>
          webhookDeliveryOf(await new WebhookDeliveries({ storage, clock }).replayOfRun(runId, id)),
      });
    });
  };
}
