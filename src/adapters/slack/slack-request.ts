import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isValidSlackRequest } from "@slack/bolt";
import { z } from "zod";
import { laneOf } from "./lane.ts";

/** Bolt refuses what is older than this, and takes anything from the future; we refuse both. */
const MAX_AHEAD_SECONDS = 300;
const MS_PER_SECOND = 1_000;

/** A request to be stored, before anybody looked at what it means. */
export interface ReceivedEvent {
  readonly deliveryId: string;
  readonly lane: string;
  readonly name: string;
  readonly body: string;
}

export type SlackRequest =
  | { readonly kind: "forged" | "malformed" | "ssl_check" | "command" }
  | { readonly kind: "challenge"; readonly challenge: string }
  | { readonly kind: "event"; readonly event: ReceivedEvent };

export interface RawRequest {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

const eventBody = z.object({
  type: z.string(),
  challenge: z.string().optional(),
  event_id: z.string().optional(),
  event: z.looseObject({ type: z.string() }).optional(),
});
const interactionBody = z.looseObject({ type: z.string(), trigger_id: z.string().optional() });

/** What Slack sent. Nothing of it is parsed before its signature has been checked. */
export function readSlackRequest(request: RawRequest, signingSecret: string, now: Date): SlackRequest {
  const body = request.body.toString();
  // Slack checks our certificate with an unsigned request now and then. It is answered, and nothing else.
  if (!isSigned(request, signingSecret, now)) return { kind: isSslCheck(request) ? "ssl_check" : "forged" };
  const isForm = request.headers["content-type"]?.includes("x-www-form-urlencoded");
  return (isForm ? readForm(new URLSearchParams(body)) : readEvent(body)) ?? { kind: "malformed" };
}

function isSigned({ body, headers }: RawRequest, signingSecret: string, now: Date): boolean {
  const timestamp = Number(headers["x-slack-request-timestamp"] ?? Number.NaN);
  if (timestamp > now.getTime() / MS_PER_SECOND + MAX_AHEAD_SECONDS) return false;
  return isValidSlackRequest({
    signingSecret,
    body: body.toString(),
    headers: {
      "x-slack-signature": String(headers["x-slack-signature"] ?? ""),
      "x-slack-request-timestamp": timestamp,
    },
    nowMilliseconds: now.getTime(),
  });
}

function isSslCheck({ body }: RawRequest): boolean {
  return /(^|&)ssl_check=1(&|$)/.test(body.toString("latin1", 0, 256));
}

function readForm(form: URLSearchParams): SlackRequest | undefined {
  if (form.has("ssl_check")) return { kind: "ssl_check" };
  if (form.has("command")) return { kind: "command" };
  return readInteraction(form.get("payload") ?? "");
}

function readInteraction(body: string): SlackRequest | undefined {
  const parsed = interactionBody.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { type, trigger_id: triggerId } = parsed.data;
  const deliveryId = stableId(triggerId ?? body);
  const lane = laneOf(parsed.data, deliveryId);
  return { kind: "event", event: { deliveryId, lane, name: type, body } };
}

function readEvent(body: string): SlackRequest | undefined {
  const parsed = eventBody.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { type, challenge, event, event_id: eventId } = parsed.data;
  if (type === "url_verification") return { kind: "challenge", challenge: challenge ?? "" };
  const deliveryId = eventId ?? stableId(body);
  const lane = laneOf(event, deliveryId);
  return { kind: "event", event: { deliveryId, lane, name: event?.type ?? type, body } };
}

/** For deliveries that Slack gives no id of their own. */
function stableId(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
