import { Webhooks } from "@octokit/webhooks";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Log } from "../../core/ports/log.ts";
import type { InboxEvent } from "../../core/threads/thread-adapter.ts";
import { sendProblem } from "../send-problem.ts";
import { within } from "../within.ts";
import { threadKeyOf } from "./thread-key.ts";

/** GitHub sends up to 25 MB and never again what it was refused; Fastify's own limit is 1 MiB. */
const BODY_LIMIT_BYTES = 26 * 1024 * 1024;
/** GitHub gives up after 10 seconds. */
const STORE_LIMIT_MS = 5_000;

/**
 * By which somebody can address us. Whether a body really mentions us is not looked at here: that needs the App's
 * name, which is asked of GitHub, and nothing is asked of anybody before the acknowledgement.
 */
const STORED_ACTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["issue_comment", ["created", "edited"]],
  ["issues", ["opened", "edited"]],
  ["pull_request", ["opened", "edited"]],
  ["pull_request_review", ["submitted", "edited"]],
  ["pull_request_review_comment", ["created", "edited"]],
]);

const numbered = z.object({ number: z.number() }).optional();
const bodySchema = z.object({
  action: z.string(),
  repository: z.object({ id: z.number() }),
  issue: numbered,
  pull_request: numbered,
});

export interface WebhookDeps {
  readonly secrets: readonly string[];
  readonly log: Log;
  accept(event: Omit<InboxEvent, "id" | "receivedAt">): Promise<boolean>;
}

type Event = Pick<InboxEvent, "lane" | "deliveryId" | "name" | "body">;

/** Serves `POST /webhooks/github`, in a scope of its own: nothing else's bodies are left unparsed. */
export function webhookRoutes(deps: WebhookDeps): FastifyPluginAsync {
  const verifiers = deps.secrets.map((secret) => new Webhooks({ secret }));
  return async (server) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    server.post("/webhooks/github", { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body.toString() : "";
      if (await isSigned(verifiers, body, headerOf(request, "x-hub-signature-256"))) {
        return receive(body, { request, reply, deps });
      }
      deps.log.warn("github.webhook.rejected", { requestId: request.id });
      return sendProblem(reply, 401, "The SHA-256 signature is missing or wrong.");
    });
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: WebhookDeps;
}

async function receive(body: string, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const deliveryId = headerOf(request, "x-github-delivery");
  const name = headerOf(request, "x-github-event");
  if (!deliveryId || !name)
    return sendProblem(reply, 400, "X-GitHub-Delivery and X-GitHub-Event are needed.");
  const actions = STORED_ACTIONS.get(name);
  if (!actions) return reply.send({ stored: false });
  const about = readBody(body);
  if (!about) return sendProblem(reply, 400, "The body is not what GitHub sends.");
  if (!actions.includes(about.action)) return reply.send({ stored: false });
  return store({ lane: about.lane, deliveryId, name, body }, exchange);
}

async function store(event: Event, { request, reply, deps }: Exchange): Promise<FastifyReply> {
  const facts = { requestId: request.id, deliveryId: event.deliveryId, name: event.name };
  try {
    const isNew = await within(STORE_LIMIT_MS, deps.accept({ adapter: "github", ...event }));
    deps.log.info("github.webhook.stored", { ...facts, isNew });
    return reply.code(isNew ? 202 : 200).send({ stored: true });
  } catch (error) {
    // GitHub does not try again by itself: this delivery waits for somebody's redelivery.
    deps.log.error("github.webhook.not_stored", { ...facts, error });
    return sendProblem(reply, 503, "The event could not be stored. Deliver it again.");
  }
}

async function isSigned(
  verifiers: readonly Webhooks[],
  body: string,
  signature: string | undefined,
): Promise<boolean> {
  if (body === "" || !signature) return false;
  for (const webhooks of verifiers) {
    if (await webhooks.verify(body, signature)) return true;
  }
  return false;
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** What is needed to store the event: its action, and the conversation within which events are kept in order. */
function readBody(body: string): { readonly action: string; readonly lane: string } | undefined {
  const read = bodySchema.safeParse(parseJson(body));
  if (!read.success) return undefined;
  const { action, repository, issue, pull_request } = read.data;
  const number = (issue ?? pull_request)?.number;
  if (number === undefined) return undefined;
  return { action, lane: `github:${threadKeyOf({ repositoryId: repository.id, number })}` };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
