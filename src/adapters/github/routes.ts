import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/basics/log.ts";
import { withTimeout } from "../../core/basics/with-timeout.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { DeliveryProblem } from "../delivery-problem.ts";
import { keepBodiesRaw } from "../raw-webhooks.ts";
import { RefusedRequests } from "../refused-requests.ts";
import type { WebhookArrivals } from "../webhook-arrivals.ts";
import { readWebhookRequest } from "./webhook-request.ts";

/** GitHub sends up to 25 MB and does not send a refused delivery again; Fastify's own limit is 1 MiB. */
const BODY_LIMIT_BYTES = 26 * 1024 * 1024;
/** GitHub times out after 10 seconds. */
const STORE_LIMIT_MS = 5_000;

const FORGED = new DeliveryProblem(401, "The SHA-256 signature is missing or wrong.");
const FORM = new DeliveryProblem(
  415,
  "GitHub sends this event as a form. Set the content type of the webhook in the App's settings to application/json.",
);
const UNNAMED = new DeliveryProblem(400, "X-GitHub-Delivery and X-GitHub-Event are needed.");
const MALFORMED = new DeliveryProblem(400, "The body is not what GitHub sends.");
const NOT_STORED = new DeliveryProblem(503, "The event could not be stored. Deliver it again.");

export interface WebhookDeps {
  readonly secrets: readonly string[];
  readonly arrivals: WebhookArrivals;
  readonly log: Log;
  accept(event: ReceivedEvent): Promise<boolean>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: WebhookDeps & { readonly forged: RefusedRequests; readonly forms: RefusedRequests };
}

/** Serves `POST /webhooks/github`, in a scope of its own, so that only these bodies stay unparsed. */
export function webhookRoutes(webhookDeps: WebhookDeps): FastifyPluginAsync {
  const { log } = webhookDeps;
  const deps = {
    ...webhookDeps,
    forged: new RefusedRequests(log, "github.webhook.rejected"),
    forms: new RefusedRequests(log, "github.webhook.form"),
  };
  return async (server) => {
    keepBodiesRaw(server, new RefusedRequests(log, "github.webhook.refused"));
    server.post("/webhooks/github", { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
      receive({ request, reply, deps }),
    );
  };
}

async function receive(exchange: Exchange): Promise<FastifyReply> {
  const { request, reply, deps } = exchange;
  reply.header("x-request-id", request.id);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const received = readWebhookRequest({ body, headers: request.headers }, deps.secrets);
  deps.arrivals.note(received.kind === "forged" ? "forged" : "verified");
  switch (received.kind) {
    case "forged":
      deps.forged.add(request.id);
      return FORGED.sendBy(reply);
    case "form":
      deps.forms.add(request.id);
      return FORM.sendBy(reply);
    case "unnamed":
      return UNNAMED.sendBy(reply);
    case "malformed":
      return MALFORMED.sendBy(reply);
    case "unused":
      return reply.send({ stored: false });
    case "event":
      return store(received.event, exchange);
  }
}

/** Stores the event, then acknowledges it. A delivery that is already stored is acknowledged as well. */
async function store(event: ReceivedEvent, { request, reply, deps }: Exchange): Promise<FastifyReply> {
  const facts = { requestId: request.id, deliveryId: event.deliveryId, name: event.name };
  try {
    const isNew = await withTimeout(deps.accept(event), STORE_LIMIT_MS, { onTimeout: failToStore });
    deps.log.info("github.webhook.stored", { ...facts, isNew });
    return reply.code(isNew ? 202 : 200).send({ stored: true });
  } catch (error) {
    // GitHub does not deliver again by itself. `LostDeliveries` finds the event in the list of failed deliveries.
    deps.log.error("github.webhook.not_stored", { ...facts, error });
    return NOT_STORED.sendBy(reply);
  }
}

function failToStore(): never {
  throw new Error(`The event was not stored within ${STORE_LIMIT_MS} ms.`);
}
