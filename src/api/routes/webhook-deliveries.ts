import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Storage } from "../../core/storage.ts";
import { WebhookDeliveries } from "../../core/webhooks/webhook-deliveries.ts";
import type { WebhookDelivery as Delivery } from "../../core/webhooks/webhook-delivery.ts";
import type { ApiDeps } from "../api-deps.ts";
import { principalOf } from "../auth/authentication.ts";
import { SignedPlaces } from "../auth/signed-place.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListWebhookDeliveriesQuery,
  ListWebhookDeliveriesResponse,
  ReplayedWebhookDeliveries,
  ReplayWebhookDeliveriesRequest,
  WebhookDelivery,
  WebhookDeliveryDetail,
  webhookDeliveryDetailOf,
  webhookDeliveryOf,
} from "../schemas/webhook-deliveries.ts";
import { requireId } from "./ids.ts";

const WEBHOOK = "/agent/webhooks/:webhookId";
const ONE = `${WEBHOOK}/deliveries/:deliveryId`;
const tags = ["webhooks"];
const ofWebhook = z.object({ webhookId: z.string().describe("A webhook's id.") });
const ofDelivery = ofWebhook.extend({ deliveryId: z.string().describe("A delivery's id.") });
const reading = { scope: "settings:read", acceptsCookie: true } as const;
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listWebhookDeliveries",
  summary: "List what a webhook is sent",
  tags,
  params: ofWebhook,
  querystring: ListWebhookDeliveriesQuery,
  response: { 200: ListWebhookDeliveriesResponse, ...problems(400, 401, 403, 404, 503) },
};
const GET = {
  operationId: "getWebhookDelivery",
  summary: "Get a delivery with its message and its tries",
  tags,
  params: ofDelivery,
  response: { 200: WebhookDeliveryDetail, ...problems(401, 403, 404, 503) },
};
const TEST = {
  operationId: "testWebhook",
  summary: "Send a webhook a test",
  description: "Its delivery says what came of it.",
  tags,
  params: ofWebhook,
  response: { 201: WebhookDelivery, ...problems(401, 403, 404, 422, 503) },
};
const REPLAY = {
  operationId: "replayWebhookDelivery",
  summary: "Send a delivery again, whatever became of it",
  tags,
  params: ofDelivery,
  response: { 200: WebhookDelivery, ...problems(401, 403, 404, 422, 503) },
};
const REPLAY_MANY = {
  operationId: "replayWebhookDeliveries",
  summary: "Send again all that was given up within a time",
  tags,
  params: ofWebhook,
  body: ReplayWebhookDeliveriesRequest,
  response: { 200: ReplayedWebhookDeliveries, ...problems(400, 401, 403, 404, 422, 503) },
};

export function webhookDeliveryRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(historyRoutes(deps));
    await app.register(sendRoutes(deps, idempotency));
    await app.register(replayManyRoute(deps, idempotency));
  };
}

function deliveriesOn({ clock }: ApiDeps, storage: Storage): WebhookDeliveries {
  return new WebhookDeliveries({ storage, clock });
}

function historyRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const deliveries = deliveriesOn(deps, deps.storage);
  const places = new SignedPlaces(deps.sessionSecret, "webhook delivery cursor");
  return async (app) => {
    app.get(`${WEBHOOK}/deliveries`, { schema: LIST, config: reading }, async (request) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const { cursor, limit, state } = request.query;
      const walk = [endpointId, state ?? null];
      const after = cursor === undefined ? {} : { after: places.decode(cursor, walk) };
      // One more than the page has, to tell whether there is another.
      const query = { endpointId, ...(state && { state }), ...after, limit: limit + 1 };
      const found = await deliveries.list(principalOf(request).teamId, query);
      return pageOf(found, limit, (last) => places.encode(last, walk));
    });
    app.get(ONE, { schema: GET, config: reading }, async (request) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const id = requireId(request.params.deliveryId, "delivery");
      const { teamId } = principalOf(request);
      return webhookDeliveryDetailOf(await deliveries.get(teamId, endpointId, id));
    });
  };
}

function pageOf(
  found: readonly Delivery[],
  limit: number,
  cursorOf: (last: string) => string,
): ListWebhookDeliveriesResponse {
  const deliveries = found.slice(0, limit).map(webhookDeliveryOf);
  const last = found.length > limit ? deliveries.at(-1) : undefined;
  const next = last === undefined ? {} : { next_cursor: cursorOf(last.id) };
  return { deliveries, page_info: { has_next_page: last !== undefined, ...next } };
}

function sendRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(`${WEBHOOK}/test`, { schema: TEST, config: writing }, async (request, reply) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const { teamId } = principalOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "webhooks.test",
        target: endpointId,
        status: 201,
        perform: async (storage) =>
          webhookDeliveryOf(await deliveriesOn(deps, storage).test(teamId, endpointId)),
      });
    });
    app.post(`${ONE}/replay`, { schema: REPLAY, config: writing }, async (request, reply) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const id = requireId(request.params.deliveryId, "delivery");
      const { teamId } = principalOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "webhooks.replay",
        target: id,
        perform: async (storage) =>
          webhookDeliveryOf(await deliveriesOn(deps, storage).replay(teamId, endpointId, id)),
      });
    });
  };
}

function replayManyRoute(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      `${WEBHOOK}/deliveries/replay`,
      { schema: REPLAY_MANY, config: writing },
      async (request, reply) => {
        const endpointId = requireId(request.params.webhookId, "webhook");
        const { teamId } = principalOf(request);
        const { since, until } = request.body;
        const which = { since, ...(until && { until }) };
        return idempotency.writeOnce(request, reply, {
          operation: "webhooks.replay-many",
          target: endpointId,
          perform: async (storage) => ({
            count: await deliveriesOn(deps, storage).replayMany(teamId, endpointId, which),
          }),
        });
      },
    );
  };
}
