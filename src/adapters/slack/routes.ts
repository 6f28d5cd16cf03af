import type { FastifyPluginAsync } from "fastify";
import { RefusedRequests } from "../refused-requests.ts";
import { DeliveryProblem, type WebhookDeps, webhookRoute } from "../webhook-route.ts";
import type { Receiver } from "./receiver.ts";
import { readWebhookRequest } from "./webhook-request.ts";

/** A message with many blocks and attachments can exceed Fastify's own limit of 1 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

const FORGED = new DeliveryProblem(401, "The signature is missing, wrong or too old.");
const MALFORMED = new DeliveryProblem(400, "The body is not what Slack sends.");

interface Deps extends WebhookDeps {
  readonly signingSecret: string;
  readonly receiver: Receiver;
}

/** Serves `POST /webhooks/slack`. */
export function webhookRoutes({ arrivals, log, receiver, signingSecret }: Deps): FastifyPluginAsync {
  return webhookRoute({
    arrivals,
    path: "/webhooks/slack",
    bodyLimitBytes: BODY_LIMIT_BYTES,
    // Slack's check of the certificate has no signature.
    unsigned: "ssl_check",
    forged: new RefusedRequests(log, "slack.webhook.rejected"),
    refused: new RefusedRequests(log, "slack.webhook.refused"),
    read: (request) => readWebhookRequest(request, signingSecret, new Date()),
    take: async (received) => {
      switch (received.kind) {
        case "forged":
          return FORGED;
        case "malformed":
          return MALFORMED;
        case "ssl_check":
          return {};
        default:
          return receiver.take(received);
      }
    },
    logStored: (facts) => log.info("slack.webhook.stored", facts),
    logNotStored: (facts) => log.warn("slack.webhook.not_stored", facts),
  });
}
