import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { WebhookEndpoint } from "../../core/model/webhooks/webhook.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { getEndpoint } from "../../core/team/webhooks/find-endpoint.ts";
import {
  type RevealedWebhook as Revealed,
  WebhookService,
} from "../../core/team/webhooks/webhook-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { principalOf } from "../auth/authentication.ts";
import type { EditedPart } from "../http/entity-tags.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
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
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

type WebhookDeps = Pick<ApiDeps, "clock" | "secrets" | "storage" | "webhookClient">;

const ROOT = "/agent/webhooks";
const ONE = `${ROOT}/:webhookId`;
const tags = ["webhooks"];
const params = z.object({ webhookId: z.string().describe("The webhook's id.") });
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const CREATE = {
  operationId: "createWebhook",
  summary: "Create a webhook for the team's runs",
  description: "Only this response contains the secret that signs the messages.",
  tags,
  body: WebhookRequest,
  response: { 201: RevealedWebhook, ...problems(400, 401, 403, 503) },
};
const ROTATE = {
  operationId: "rotateWebhookSecret",
  summary: "Rotate the secret of a webhook",
  description:
    "Only this response contains the new secret. During the overlap, messages are also signed with the old one.",
  tags,
  params,
  body: RotateWebhookSecretRequest.prefault({}),
  response: { 200: RevealedWebhook, ...problems(400, 401, 403, 404, 503) },
};

export function webhookRoutes(deps: WebhookDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock } = deps;
  const webhooks = resourceRoutes(deps.storage, idempotency, {
    path: ROOT,
    tags,
    scopes: { read: "settings:read", write: writing.scope },
    id: uuidId("webhookId", "webhook"),
    serviceOn: (storage) => ({ storage, service: serviceOn(deps, storage) }),
    item: Webhook,
    items: (endpoints: readonly WebhookEndpoint[]) => endpoints.map((each) => webhookOf(each, clock.now())),
    edited,
    list: {
      operationId: "listWebhooks",
      summary: "List webhooks",
      member: "webhooks",
      response: ListWebhooksResponse,
      run: ({ storage }, { teamId }) => storage.webhooks.endpoints.list(teamId),
    },
    get: {
      operationId: "getWebhook",
      summary: "Get a webhook",
      run: ({ storage }, { teamId }, id) => getEndpoint(storage, teamId, id),
    },
    update: {
      operationId: "updateWebhook",
      summary: "Change, enable or disable a webhook",
      body: WebhookChange,
      run: ({ service }, { teamId }, id, body) => service.change(teamId, id, webhookChangesOf(body)),
    },
    remove: {
      operationId: "deleteWebhook",
      summary: "Delete a webhook and its history",
      run: ({ service }, { teamId }, id) => service.remove(teamId, id),
    },
  });
  return async (app) => {
    await app.register(webhooks);
    await app.register(revealRoutes(deps, idempotency));
  };
}

/** A webhook that the server has switched off counts as enabled, because no caller has changed it. */
const edited: EditedPart = ({ description, disabled_reason, enabled, events, url }) => [
  url,
  description ?? null,
  events,
  enabled === true || disabled_reason !== undefined,
];

function serviceOn(
  { clock, secrets: box, webhookClient: client }: WebhookDeps,
  storage: Storage,
): WebhookService {
  return new WebhookService({ storage, client, box, clock });
}

/** The two operations whose response shows a secret. */
function revealRoutes(deps: WebhookDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
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
