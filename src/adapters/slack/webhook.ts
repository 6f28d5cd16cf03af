import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyPluginAsync } from "fastify";
import {
  DeliveryProblem,
  type RawRequest,
  RefusedRequests,
  type WebhookDeps,
  webhookRoute,
} from "../webhook-route.ts";
import { readCommand, readEvent, readInteraction, type SlackPayload } from "./payload.ts";
import type { Receiver } from "./receiver.ts";

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

/** Older and later requests may be repeated by a stranger. */
const MAX_AGE_SECONDS = 300;
const MS_PER_SECOND = 1_000;
const FORM = /^application\/x-www-form-urlencoded\b/i;

export type WebhookRequest = { readonly kind: "forged" | "ssl_check" } | SlackPayload;

/** Reads what Slack sent. The signature is checked before anything is parsed. */
export function readWebhookRequest(request: RawRequest, signingSecret: string, now: Date): WebhookRequest {
  // Slack sometimes checks the certificate with an unsigned request. It gets an answer and nothing else happens.
  if (!isSigned(request, signingSecret, now)) {
    return { kind: isSslCheck(request) ? "ssl_check" : "forged" };
  }
  const body = request.body.toString();
  const isForm = FORM.test(request.headers["content-type"] ?? "");
  return isForm ? readForm(new URLSearchParams(body)) : readEvent(body);
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
    ? readCommand((name) => form.get(name))
    : readInteraction(form.get("payload") ?? "");
}
