import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/ports/log.ts";
import type { ReceivedEvent } from "../../core/threads/thread-adapter.ts";
import { withTimeout } from "../../core/with-timeout.ts";
import { sendProblem } from "../send-problem.ts";
import { commandEvent, readWebhookRequest, type SlashCommand } from "./webhook-request.ts";

/** A message with many blocks and attachments can exceed Fastify's own limit of 1 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Slack waits 3 seconds. After a 503 within that time it delivers again sooner than after a late answer. */
const STORE_LIMIT_MS = 2_500;

export interface WebhookDeps {
  readonly signingSecret: string;
  trigger(): string;
  readonly log: Log;
  accept(event: ReceivedEvent): Promise<boolean>;
  /** Answers a command that is not stored. */
  answer(name: "link" | "status", command: SlashCommand): Promise<string>;
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
      return reply.send({ response_type: "ephemeral", text: await answer(received.command, exchange) });
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

/** The answer to a command, for its author alone. Slack does not deliver a command again. */
async function answer(command: SlashCommand, { deps, request }: Exchange): Promise<string> {
  const name = command.text.toLowerCase();
  if (name === "" || name === "help") {
    return helpText(deps.trigger());
  }
  try {
    if (name === "link" || name === "status") {
      return await withTimeout(deps.answer(name, command), STORE_LIMIT_MS, { onTimeout: failToStore });
    }
    await withTimeout(deps.accept(commandEvent(command)), STORE_LIMIT_MS, { onTimeout: failToStore });
    return "I take it up, and answer in our direct conversation.";
  } catch (error) {
    deps.log.warn("slack.command.failed", { requestId: request.id, error });
    return "That did not work just now. Try it again in a moment.";
  }
}

function helpText(trigger: string): string {
  return [
    "`/errand <task>` starts a run in our direct conversation.",
    "`/errand status` shows your latest runs, and `/errand link` signs you in to their pages.",
    `In a channel, mention me: \`${trigger} <task>\`. \`${trigger} help\` says what works in a thread.`,
  ].join("\n");
}

function failToStore(): never {
  throw new Error(`It was not done within ${STORE_LIMIT_MS} ms.`);
}
