import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { WebhookDelivery as Delivery } from "../../core/model/webhooks/webhook.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { WebhookDeliveries } from "../../core/team/webhooks/webhook-deliveries.ts";
import type { ApiDeps } from "../api-deps.ts";
import { principalOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { except } from "../http/entity-tags.ts";
import { requireId } from "../schemas/ids.ts";
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
import type { Idempotency } from "./idempotency.ts";

type DeliveryDeps = Pick<ApiDeps, "clock" | "sessionSecret" | "storage">;

const WEBHOOK = "/agent/webhooks/:webhookId";
const ONE = `${WEBHOOK}/deliveries/:deliveryId`;
const tags = ["webhooks"];
const ofWebhook = z.object({ webhookId: z.string().describe("The webhook's id.") });
const ofDelivery = ofWebhook.extend({ deliveryId: z.string().describe("The delivery's id.") });
const reading = { scope: "settings:read" } as const;
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listWebhookDeliveries",
  summary: "List the deliveries of a webhook",
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
  summary: "Send a test message to a webhook",
  description: "The delivery in the response shows the result.",
  tags,
  params: ofWebhook,
  response: { 201: WebhookDelivery, ...problems(401, 403, 404, 422, 503) },
};
const REPLAY = {
  operationId: "replayWebhookDelivery",
  summary: "Send a delivery again, in any state",
  tags,
  params: ofDelivery,
  response: { 200: WebhookDelivery, ...problems(401, 403, 404, 422, 503) },
};
const REPLAY_MANY = {
  operationId: "replayWebhookDeliveries",
  summary: "Send all dead deliveries of a period again",
  tags,
  params: ofWebhook,
  body: ReplayWebhookDeliveriesRequest,
  response: { 200: ReplayedWebhookDeliveries, ...problems(400, 401, 403, 404, 422, 503) },
};

export function webhookDeliveryRoutes(deps: DeliveryDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(historyRoutes(deps));
    await app.register(sendRoutes(deps, idempotency));
    await app.register(replayManyRoute(deps, idempotency));
  };
}

function deliveriesOn({ clock }: Pick<ApiDeps, "clock">, storage: Storage): WebhookDeliveries {
  return new WebhookDeliveries({ storage, clock });
}

function historyRoutes(deps: DeliveryDeps): FastifyPluginAsyncZod {
  const deliveries = deliveriesOn(deps, deps.storage);
  const cursors = new SignedCursors(deps.sessionSecret, "webhook delivery cursor");
  return async (app) => {
    app.get(`${WEBHOOK}/deliveries`, { schema: LIST, config: reading }, async (request) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const { cursor, limit, state } = request.query;
      const listing = [endpointId, state ?? null];
      const after = cursor === undefined ? {} : { after: cursors.decode(cursor, listing) };
      // One more than the page has, to find out whether there is a next page.
      const query = {
        endpointId,
        ...defined({ state }),
        ...after,
        limit: limit + 1,
      };
      const rows = await deliveries.list(principalOf(request).teamId, query);
      return pageOf(rows, limit, (last) => cursors.encode(last, listing));
    });
    app.get(ONE, { schema: GET, config: { ...reading, edited: except() } }, async (request) => {
      const endpointId = requireId(request.params.webhookId, "webhook");
      const id = requireId(request.params.deliveryId, "delivery");
      const { teamId } = principalOf(request);
      return webhookDeliveryDetailOf(await deliveries.get(teamId, endpointId, id));
    });
  };
}

export function pageOf(
  rows: readonly Delivery[],
  limit: number,
  cursorOf: (last: string) => string,
): ListWebhookDeliveriesResponse {
  const deliveries = rows.slice(0, limit).map(webhookDeliveryOf);
  const last = rows.length > limit ? deliveries.at(-1) : undefined;
  const next = last === undefined ? {} : { next_cursor: cursorOf(last.id) };
  return { deliveries, page_info: { has_next_page: last !== undefined, ...next } };
}

function sendRoutes(deps: DeliveryDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
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

function replayManyRoute(deps: DeliveryDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      `${WEBHOOK}/deliveries/replay`,
      { schema: REPLAY_MANY, config: writing },
      async (request, reply) => {
        const endpointId = requireId(request.params.webhookId, "webhook");
        const { teamId } = principalOf(request);
        const { since, until } = request.body;
        const which = defined({ since, until });
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
