import type { App, Receiver } from "@slack/bolt";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/ports/log.ts";
import type { InboxEvent, Translation } from "../../core/threads/thread-adapter.ts";
import { sendProblem } from "../send-problem.ts";
import { within } from "../within.ts";
import type { TranslationContext } from "./hearing.ts";
import { type ReceivedEvent, readSlackRequest, type SlackRequest } from "./slack-request.ts";

/** Fastify's own limit of 1 MiB is below what a message with many blocks and attachments can reach. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Slack wants its answer within 3 seconds; a 503 in time makes it deliver again, a late one as well but slower. */
const STORE_LIMIT_MS = 2_500;

export interface ReceiverDeps {
  readonly signingSecret: string;
  readonly trigger: string;
  readonly log: Log;
  accept(event: Omit<InboxEvent, "id" | "receivedAt">): Promise<boolean>;
}

/**
 * Bolt's receiver in two halves. Requests are verified, stored and only then acknowledged; the worker later hands the
 * stored event to `replay`, which lets Bolt's listeners say what it means. Bolt's own receivers acknowledge first
 * and lose the event when the process dies after that.
 */
export class InboxReceiver implements Receiver {
  readonly #deps: ReceiverDeps;
  #app: App | undefined;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
  }

  init(app: App): void {
    this.#app = app;
  }

  /** The server is the API's: there is nothing to start here, nor to stop. */
  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  /** The routes, in a scope of their own: nothing else's bodies are left unparsed. */
  readonly routes: FastifyPluginAsync = async (server) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    server.post("/webhooks/slack", { bodyLimit: BODY_LIMIT_BYTES }, (request, reply) =>
      this.#receive(request, reply),
    );
  };

  /** What the listeners make of a stored event. Rejects with what they or the authorization throw. */
  async replay(event: InboxEvent): Promise<Translation> {
    const heard: Translation[] = [];
    const context: TranslationContext = { settle: (translation) => heard.push(translation) };
    const ack = async (): Promise<void> => undefined;
    await this.#app?.processEvent({ body: JSON.parse(event.body), ack, customProperties: context });
    return heard[0] ?? { kind: "ignored", reason: `Slack's ${event.name} means nothing to Errand.` };
  }

  async #receive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const raw = { body, headers: request.headers };
    return this.#answer(readSlackRequest(raw, this.#deps.signingSecret, new Date()), request, reply);
  }

  async #answer(received: SlackRequest, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    switch (received.kind) {
      case "forged":
        this.#deps.log.info("slack.webhook.rejected", { requestId: request.id });
        return sendProblem(reply, 401, "The signature is missing, wrong or too old.");
      case "malformed":
        return sendProblem(reply, 400, "The body is not what Slack sends.");
      case "ssl_check":
        return reply.send();
      case "challenge":
        return reply.send({ challenge: received.challenge });
      case "command":
        return reply.send({ response_type: "ephemeral", text: howToMention(this.#deps.trigger) });
      case "event":
        return this.#store(received.event, request, reply);
    }
  }

  /** A delivery that is already stored is acknowledged too, so a retry header needs no look. */
  async #store(event: ReceivedEvent, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { accept, log } = this.#deps;
    try {
      await within(STORE_LIMIT_MS, accept({ adapter: "slack", ...event }));
      return reply.send();
    } catch (error) {
      const { deliveryId, name } = event;
      log.warn("slack.webhook.not_stored", { requestId: request.id, deliveryId, name, error });
      return sendProblem(reply, 503, "The event could not be stored. Deliver it again.");
    }
  }
}

function howToMention(trigger: string): string {
  return `Slash commands have no thread to report to. Mention the bot in a channel instead: \`${trigger} what is to be done\`, or write to it directly.`;
}
