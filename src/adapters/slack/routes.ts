import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/basics/log.ts";
import { DeliveryProblem } from "../delivery-problem.ts";
import { keepBodiesRaw } from "../raw-webhooks.ts";
import { RefusedRequests } from "../refused-requests.ts";
import type { WebhookArrivals } from "../webhook-arrivals.ts";
import type { Receiver } from "./receiver.ts";
import { readWebhookRequest } from "./webhook-request.ts";

/** A message with many blocks and attachments can exceed Fastify's own limit of 1 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

const FORGED = new DeliveryProblem(401, "The signature is missing, wrong or too old.");
const MALFORMED = new DeliveryProblem(400, "The body is not what Slack sends.");
const NOT_STORED = new DeliveryProblem(503, "The event could not be stored. Deliver it again.");

export interface WebhookDeps {
  readonly signingSecret: string;
  readonly arrivals: WebhookArrivals;
  readonly receiver: Receiver;
  readonly log: Log;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: WebhookDeps & { readonly forged: RefusedRequests };
}

/** Serves `POST /webhooks/slack`, in a scope of its own, so that only these bodies stay unparsed. */
export function webhookRoutes(webhookDeps: WebhookDeps): FastifyPluginAsync {
  const deps = { ...webhookDeps, forged: new RefusedRequests(webhookDeps.log, "slack.webhook.rejected") };
  return async (server) => {
    keepBodiesRaw(server, new RefusedRequests(webhookDeps.log, "slack.webhook.refused"));
    server.post("/webhooks/slack", { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
      receive({ request, reply, deps }),
    );
  };
}

async function receive({ request, reply, deps }: Exchange): Promise<FastifyReply> {
  reply.header("x-request-id", request.id);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const received = readWebhookRequest({ body, headers: request.headers }, deps.signingSecret, new Date());
  // Slack's check of the certificate has no signature.
  if (received.kind !== "ssl_check") {
    deps.arrivals.note(received.kind === "forged" ? "forged" : "verified");
  }
  switch (received.kind) {
    case "forged":
      deps.forged.add(request.id);
      return FORGED.sendBy(reply);
    case "malformed":
      return MALFORMED.sendBy(reply);
    case "ssl_check":
      return reply.send();
  }
  try {
    const { body: answer, stored } = await deps.receiver.take(received);
    if (stored !== undefined) {
      deps.log.info("slack.webhook.stored", { requestId: request.id, ...stored });
    }
    return reply.send(answer);
  } catch (error) {
    const { deliveryId, name } = received.kind === "event" ? received.event : {};
    deps.log.warn("slack.webhook.not_stored", { requestId: request.id, deliveryId, name, error });
    return NOT_STORED.sendBy(reply);
  }
}
