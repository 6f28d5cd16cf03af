import type { FastifyPluginAsync } from "fastify";
import { withTimeout } from "../../core/basics/with-timeout.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { RefusedRequests } from "../refused-requests.ts";
import { DeliveryProblem, type WebhookDeps, webhookRoute } from "../webhook-route.ts";
import { readWebhookRequest } from "./webhook-request.ts";

/** GitHub sends up to 25 MB and does not send a refused delivery again; Fastify's own limit is 1 MiB. */
const BODY_LIMIT_BYTES = 26 * 1024 * 1024;
/** GitHub times out after 10 seconds. */
const STORE_LIMIT_MS = 5_000;

const PROBLEMS = {
  forged: new DeliveryProblem(401, "The SHA-256 signature is missing or wrong."),
  form: new DeliveryProblem(
    415,
    "GitHub sends this event as a form. Set the content type of the webhook in the App's settings to application/json.",
  ),
  unnamed: new DeliveryProblem(400, "X-GitHub-Delivery and X-GitHub-Event are needed."),
  malformed: new DeliveryProblem(400, "The body is not what GitHub sends."),
};

interface Deps extends WebhookDeps {
  readonly secrets: readonly string[];
  accept(event: ReceivedEvent): Promise<boolean>;
}

/** Serves `POST /webhooks/github`. */
export function webhookRoutes({ accept, arrivals, log, secrets }: Deps): FastifyPluginAsync {
  const forms = new RefusedRequests(log, "github.webhook.form");
  return webhookRoute({
    arrivals,
    path: "/webhooks/github",
    bodyLimitBytes: BODY_LIMIT_BYTES,
    forged: new RefusedRequests(log, "github.webhook.rejected"),
    refused: new RefusedRequests(log, "github.webhook.refused"),
    read: (request) => readWebhookRequest(request, secrets),
    take: async (received, requestId) => {
      if (received.kind === "form") {
        forms.add(requestId);
      }
      if (received.kind !== "event") {
        return received.kind === "unused" ? { body: { stored: false } } : PROBLEMS[received.kind];
      }
      const { deliveryId, name } = received.event;
      const isNew = await withTimeout(accept(received.event), STORE_LIMIT_MS, { onTimeout: failToStore });
      // A delivery that is already stored is acknowledged as well.
      return { status: isNew ? 202 : 200, body: { stored: true }, stored: { deliveryId, name, isNew } };
    },
    logStored: (facts) => log.info("github.webhook.stored", facts),
    // GitHub does not deliver again by itself. `LostDeliveries` finds the event in the list of failed deliveries.
    logNotStored: (facts) => log.error("github.webhook.not_stored", facts),
  });
}

function failToStore(): never {
  throw new Error(`The event was not stored within ${STORE_LIMIT_MS} ms.`);
}
