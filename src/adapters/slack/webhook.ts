import { createHmac, timingSafeEqual } from "node:crypto";
import type { Receiver, StringIndexed } from "@slack/bolt";
import type { FastifyPluginAsync } from "fastify";
import { parseJson } from "../../core/basics/parse-json.ts";
import {
  type Answer,
  DeliveryProblem,
  type RawRequest,
  RefusedRequests,
  type WebhookDeps,
  webhookRoute,
} from "../webhook-route.ts";
import type { EventSink } from "./bolt-app.ts";
import { type EventFacts, MalformedEvent } from "./ingest.ts";

/** A message with many blocks and attachments can exceed Fastify's own limit of 1 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Older and later requests may be repeated by a stranger. */
const MAX_AGE_SECONDS = 300;
const MS_PER_SECOND = 1_000;
const FORM = /^application\/x-www-form-urlencoded\b/i;

const FORGED = new DeliveryProblem(401, "The signature is missing, wrong or too old.");
const MALFORMED = new DeliveryProblem(400, "The body is not what Slack sends.");

/** What Slack sent. `raw` is the JSON as it arrived. */
type WebhookRequest =
  | { readonly kind: "forged" | "malformed" | "ssl_check" }
  | {
      readonly kind: "signed";
      readonly body: StringIndexed;
      readonly raw: string;
      /** Filled while it is stored. */
      readonly event: EventFacts;
    };

interface Deps extends WebhookDeps {
  readonly signingSecret: string;
}

/** A Receiver of Bolt on Fastify, which serves `POST /webhooks/slack`. */
export class FastifyReceiver implements Receiver {
  readonly routes: FastifyPluginAsync;
  #app: EventSink | undefined;

  constructor({ arrivals, log, signingSecret }: Deps) {
    this.routes = webhookRoute<WebhookRequest>({
      arrivals,
      path: "/webhooks/slack",
      bodyLimitBytes: BODY_LIMIT_BYTES,
      // Slack's check of the certificate has no signature.
      unsigned: "ssl_check",
      forged: new RefusedRequests(log, "slack.webhook.rejected"),
      refused: new RefusedRequests(log, "slack.webhook.refused"),
      read: (request) => readWebhookRequest(request, signingSecret, new Date()),
      take: (received) => this.#take(received),
      logStored: (facts) => log.info("slack.webhook.stored", facts),
      logNotStored: (facts) => log.warn("slack.webhook.not_stored", facts),
    });
  }

  init(app: EventSink): void {
    this.#app = app;
  }

  /** The server that has the routes listens. */
  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async #take(received: WebhookRequest): Promise<Answer | DeliveryProblem> {
    if (received.kind !== "signed") {
      return received.kind === "ssl_check" ? {} : received.kind === "forged" ? FORGED : MALFORMED;
    }
    const { body, event: facts, raw } = received;
    if (body.type === "url_verification") {
      return { body: { challenge: body.challenge ?? "" } };
    }
    let answer: object | undefined;
    const ack = async (response?: object) => {
      answer = response;
    };
    try {
      await this.#app?.processEvent({ body, ack, customProperties: { raw, facts } });
    } catch (error) {
      if (error instanceof MalformedEvent) {
        return MALFORMED;
      }
      throw error;
    }
    const { deliveryId = "", isNew, name = "" } = facts;
    return {
      ...(answer && { body: answer }),
      ...(isNew !== undefined && { stored: { deliveryId, name, isNew } }),
    };
  }
}

/** Reads what Slack sent. The signature is checked before anything is parsed. */
export function readWebhookRequest(request: RawRequest, signingSecret: string, now: Date): WebhookRequest {
  // Slack sometimes checks the certificate with an unsigned request. It gets an answer and nothing else happens.
  if (!isSigned(request, signingSecret, now)) {
    return { kind: isSslCheck(request) ? "ssl_check" : "forged" };
  }
  const text = request.body.toString();
  const isForm = FORM.test(request.headers["content-type"] ?? "");
  return isForm ? readForm(new URLSearchParams(text)) : readJson(text);
}

/**
 * Checks the signature over the bytes as they arrived (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 * Bolt's function takes text, in which all invalid bytes are the same character.
 */
function isSigned({ body, headers }: RawRequest, signingSecret: string, now: Date): boolean {
  const timestamp = String(headers["x-slack-request-timestamp"] ?? "");
  const ageSeconds = now.getTime() / MS_PER_SECOND - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(ageSeconds) > MAX_AGE_SECONDS) {
    return false;
  }
  // As a text, because each `Buffer` of a digest costs as much as the digest.
  const digest = createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(body).digest("hex");
  const expected = Buffer.from(`v0=${digest}`);
  const given = Buffer.from(String(headers["x-slack-signature"] ?? ""));
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function isSslCheck({ body, headers }: RawRequest): boolean {
  return !headers["x-slack-signature"] && /(^|&)ssl_check=1(&|$)/.test(body.toString("latin1", 0, 256));
}

function readForm(form: URLSearchParams): WebhookRequest {
  if (form.has("ssl_check")) {
    return { kind: "ssl_check" };
  }
  return form.has("command")
    ? { kind: "signed", body: Object.fromEntries(form), raw: "", event: {} }
    : readJson(form.get("payload") ?? "");
}

function readJson(raw: string): WebhookRequest {
  const body = parseJson(raw);
  return typeof body === "object" && body !== null && !Array.isArray(body)
    ? { kind: "signed", body, raw, event: {} }
    : { kind: "malformed" };
}
