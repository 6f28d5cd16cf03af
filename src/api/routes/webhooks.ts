import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Storage } from "../../core/storage.ts";
import { getEndpoint } from "../../core/webhooks/find-endpoint.ts";
import { type RevealedWebhook as Revealed, WebhookService } from "../../core/webhooks/webhook-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { principalOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import {
  ListWebhooksResponse,
  RevealedWebhook,
  RotateWebhookSecretRequest,
  Webhook,
  WebhookChange,
  WebhookRequest,
  webhookChangesOf,
  webhookInputOf,
  webhookOf,
} from "../schemas/webhooks.ts";
import { requireId } from "./ids.ts";

const ROOT = "/agent/webhooks";
const ONE = `${ROOT}/:webhookId`;
const tags = ["webhooks"];
const params = z.object({ webhookId: z.string().describe("A webhook's id.") });
const reading = { scope: "settings:read", acceptsCookie: true } as const;
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listWebhooks",
  summary: "List webhooks",
  tags,
  response: { 200: ListWebhooksResponse, ...problems(401, 403, 503) },
};
const GET = {
  operationId: "getWebhook",
  summary: "Get a webhook",
  tags,
  params,
  response: { 200: Webhook, ...problems(401, 403, 404, 503) },
};
const CREATE = {
  operationId: "createWebhook",
  summary: "Have an address told of the team's runs",
  description: "The secret that messages are signed with is shown in this answer alone.",
  tags,
  body: WebhookRequest,
  response: { 201: RevealedWebhook, ...problems(400, 401, 403, 503) },
};
const UPDATE = {
  operationId: "updateWebhook",
  summary: "Change a webhook, or switch it on or off",
  tags,
  params,
  body: WebhookChange,
  response: { 200: Webhook, ...problems(400, 401, 403, 404, 503) },
};
const DELETE = {
  operationId: "deleteWebhook",
  summary: "Delete a webhook and its history",
  tags,
  params,
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};
const ROTATE = {
  operationId: "rotateWebhookSecret",
  summary: "Give a webhook a new secret",
  description: "It is shown in this answer alone. For a while messages are signed with the old one as well.",
  tags,
  params,
  body: RotateWebhookSecretRequest.prefault({}),
  response: { 200: RevealedWebhook, ...problems(400, 401, 403, 404, 503) },
};

export function webhookRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(revealRoutes(deps, idempotency));
    await app.register(changeRoutes(deps, idempotency));
  };
}

function serviceOn(
  { clock, secrets: box, webhookClient: client }: ApiDeps,
  storage: Storage,
): WebhookService {
  return new WebhookService({ storage, client, box, clock });
}

function readRoutes({ clock, storage }: ApiDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(ROOT, { schema: LIST, config: reading }, async (request) => {
      const endpoints = await storage.webhooks.endpoints.list(principalOf(request).teamId);
      return { webhooks: endpoints.map((endpoint) => webhookOf(endpoint, clock.now())) };
    });
    app.get(ONE, { schema: GET, config: reading }, async (request) => {
      const id = requireId(request.params.webhookId, "webhook");
      return webhookOf(await getEndpoint(storage, principalOf(request).teamId, id), clock.now());
    });
  };
}

/** The two answers that show a secret. */
function revealRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const reveal = ({ endpoint, secret }: Revealed) => ({ ...webhookOf(endpoint, deps.clock.now()), secret });
  return async (app) => {
    app.post(ROOT, { schema: CREATE, config: writing }, async (request, reply) =>
      idempotency.writeOnce(request, reply, {
        operation: "webhooks.create",
        status: 201,
        isSecret: true,
        perform: async (storage) =>
          reveal(await serviceOn(deps, storage).create(principalOf(request), webhookInputOf(request.body))),
      }),
    );
    app.post(`${ONE}/rotate-secret`, { schema: ROTATE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.webhookId, "webhook");
      const { teamId } = principalOf(request);
      const { overlap_seconds } = request.body;
      return idempotency.writeOnce(request, reply, {
        operation: "webhooks.rotate-secret",
        target: id,
        isSecret: true,
        perform: async (storage) =>
          reveal(await serviceOn(deps, storage).rotateSecret(teamId, id, overlap_seconds)),
      });
    });
  };
}

function changeRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.patch(ONE, { schema: UPDATE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.webhookId, "webhook");
      const { teamId } = principalOf(request);
      const changes = webhookChangesOf(request.body);
      return idempotency.writeOnce(request, reply, {
        operation: "webhooks.update",
        target: id,
        perform: async (storage) =>
          webhookOf(await serviceOn(deps, storage).change(teamId, id, changes), deps.clock.now()),
      });
    });
    app.delete(ONE, { schema: DELETE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.webhookId, "webhook");
      const { teamId } = principalOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "webhooks.delete",
        target: id,
        perform: async (storage) => {
          await serviceOn(deps, storage).remove(teamId, id);
          return SUCCESS;
        },
      });
    });
  };
}
