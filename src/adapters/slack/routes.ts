import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/ports/log.ts";
import type { ReceivedEvent } from "../../core/threads/thread-adapter.ts";
import { withTimeout } from "../../core/with-timeout.ts";
import { sendProblem } from "../send-problem.ts";
import { readWebhookRequest } from "./webhook-request.ts";

/** A message with many blocks and attachments can exceed Fastify's own limit of 1 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Slack waits 3 seconds. After a 503 within that time it delivers again sooner than after a late answer. */
const STORE_LIMIT_MS = 2_500;

export interface WebhookDeps {
  readonly signingSecret: string;
  trigger(): string;
  readonly log: Log;
  accept(event: ReceivedEvent): Promise<boolean>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: WebhookDeps;
}

/** Serves `POST /webhooks/slack`, in a scope of its own, so that only these bodies stay unparsed. */
export function webhookRoutes(deps: WebhookDeps): FastifyPluginAsync {
  return async (server) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    server.post("/webhooks/slack", { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
      receive({ request, reply, deps }),
    );
  };
}

async function receive(exchange: Exchange): Promise<FastifyReply> {
  const { request, reply, deps } = exchange;
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const received = readWebhookRequest({ body, headers: request.headers }, deps.signingSecret, new Date());
  switch (received.kind) {
    case "forged":
      deps.log.info("slack.webhook.rejected", { requestId: request.id });
      return sendProblem(reply, 401, "The signature is missing, wrong or too old.");
    case "malformed":
      return sendProblem(reply, 400, "The body is not what Slack sends.");
    case "ssl_check":
      return reply.send();
    case "challenge":
      return reply.send({ challenge: received.challenge });
    case "command":
      return reply.send({ response_type: "ephemeral", text: howToMention(deps.trigger()) });
    case "event":
      return store(received.event, exchange);
  }
}

/** Stores the event, then acknowledges it. A delivery that is already stored is acknowledged as well. */
async function store(event: ReceivedEvent, { request, reply, deps }: Exchange): Promise<FastifyReply> {
  try {
    await withTimeout(deps.accept(event), STORE_LIMIT_MS, { onTimeout: failToStore });
    return reply.send();
  } catch (error) {
    const { deliveryId, name } = event;
    deps.log.warn("slack.webhook.not_stored", { requestId: request.id, deliveryId, name, error });
    return sendProblem(reply, 503, "The event could not be stored. Deliver it again.");
  }
}

function howToMention(trigger: string): string {
  return `Slash commands have no thread to report to. Mention the bot in a channel instead: \`${trigger} what is to be done\`, or write to it directly.`;
}

function failToStore(): never {
  throw new Error(`The event was not stored within ${STORE_LIMIT_MS} ms.`);
}
