import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { cleaned } from "../../core/clean-text.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { ReceivedEvent } from "../../core/threads/thread-adapter.ts";
import { isDirect } from "./thread-key.ts";

/** Older and later requests may be repeated by a stranger. */
const MAX_AGE_SECONDS = 300;
const MS_PER_SECOND = 1_000;
const NAME_LENGTH_MAX = 255;

export type WebhookRequest =
  | { readonly kind: "forged" | "malformed" | "ssl_check" }
  | { readonly kind: "command"; readonly command: SlashCommand }
  | { readonly kind: "challenge"; readonly challenge: string }
  | { readonly kind: "event"; readonly event: ReceivedEvent };

export interface SlashCommand {
  readonly teamId: string;
  readonly channel: string;
  readonly userId: string;
  readonly text: string;
  /** Slack's id of this command. */
  readonly triggerId: string;
}

/** The name of a command's event. Slack's own names have no space. */
export const COMMAND_EVENT = "slash command";

export interface RawRequest {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

const eventSchema = z.object({
  type: z.string(),
  challenge: z.string().optional(),
  event_id: z.string().optional(),
  event: z.looseObject({ type: z.string() }).optional(),
});
const interactionSchema = z.looseObject({ type: z.string(), trigger_id: z.string().optional() });

const text = z.string().optional().catch(undefined);
const messageSchema = z.object({ ts: text, thread_ts: text });
const threadSchema = messageSchema.extend({
  channel: z
    .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
    .optional()
    .catch(undefined),
  message: messageSchema.optional().catch(undefined),
  previous_message: messageSchema.optional().catch(undefined),
  deleted_ts: text,
  item: messageSchema.extend({ channel: text }).optional().catch(undefined),
});

/** Reads what Slack sent. The signature is checked before anything is parsed. */
export function readWebhookRequest(request: RawRequest, signingSecret: string, now: Date): WebhookRequest {
  // Slack sometimes checks the certificate with an unsigned request. It gets an answer and nothing else happens.
  if (!isSigned(request, signingSecret, now)) {
    return { kind: isSslCheck(request) ? "ssl_check" : "forged" };
  }
  const body = request.body.toString();
  const isForm = request.headers["content-type"]?.includes("x-www-form-urlencoded");
  return (isForm ? readForm(new URLSearchParams(body)) : readEvent(body)) ?? { kind: "malformed" };
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
  const hash = createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(body).digest("hex");
  const [expected, signature] = [
    Buffer.from(`v0=${hash}`),
    Buffer.from(String(headers["x-slack-signature"] ?? "")),
  ];
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}

function isSslCheck({ body }: RawRequest): boolean {
  return /(^|&)ssl_check=1(&|$)/.test(body.toString("latin1", 0, 256));
}

function readForm(form: URLSearchParams): WebhookRequest | undefined {
  if (form.has("ssl_check")) {
    return { kind: "ssl_check" };
  }
  if (form.has("command")) {
    return { kind: "command", command: readCommand(form) };
  }
  return readInteraction(form.get("payload") ?? "");
}

function readCommand(form: URLSearchParams): SlashCommand {
  const [teamId = "", channel = "", userId = "", text = "", triggerId = ""] = [
    "team_id",
    "channel_id",
    "user_id",
    "text",
    "trigger_id",
  ].map((name) => form.get(name) ?? "");
  return { teamId, channel, userId, text: text.trim(), triggerId };
}

/** The event that stores a command. Commands of one user are handled in order. */
export function commandEvent(command: SlashCommand): ReceivedEvent {
  const body = JSON.stringify(command);
  const deliveryId = stableId(command.triggerId || body);
  const orderingKey = storable(`slack:command/${command.teamId}/${command.userId}`);
  return { adapter: "slack", body, deliveryId, name: COMMAND_EVENT, orderingKey };
}

function readInteraction(body: string): WebhookRequest | undefined {
  const parsed = interactionSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    return undefined;
  }
  const { type: name, trigger_id: triggerId } = parsed.data;
  return eventOf({ deliveryId: stableId(triggerId ?? body), name, body }, parsed.data);
}

function readEvent(body: string): WebhookRequest | undefined {
  const parsed = eventSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    return undefined;
  }
  const { type, challenge, event, event_id: eventId } = parsed.data;
  if (type === "url_verification") {
    return { kind: "challenge", challenge: challenge ?? "" };
  }
  return eventOf({ deliveryId: eventId ?? stableId(body), name: event?.type ?? type, body }, event);
}

function eventOf(
  event: Pick<ReceivedEvent, "deliveryId" | "name" | "body">,
  subject: unknown,
): WebhookRequest {
  const { body, deliveryId, name } = event;
  const orderingKey = storable(orderingKeyOf(subject, deliveryId));
  const names = { orderingKey, deliveryId: storable(deliveryId), name: storable(name) };
  return { kind: "event", event: { adapter: "slack", body, ...names } };
}

/** A name that the database accepts. Otherwise Slack would deliver the event again and again. */
function storable(name: string): string {
  const plain = cleaned(name, (text) => text);
  return plain.length > NAME_LENGTH_MAX ? stableId(plain) : plain;
}

/** The thread of an event or of a pressed button. An event without a thread has a key of its own. */
export function orderingKeyOf(subject: unknown, deliveryId: string): string {
  const parsed = threadSchema.safeParse(subject);
  const { deleted_ts: deletedTs, item, message, previous_message: previous } = parsed.data ?? {};
  const channel = parsed.data?.channel ?? item?.channel;
  const deleted = deletedTs === undefined ? undefined : { ts: deletedTs, thread_ts: previous?.thread_ts };
  const { ts, thread_ts: threadTs } = message ?? deleted ?? item ?? parsed.data ?? {};
  const root = channel !== undefined && isDirect(channel) ? "" : (threadTs ?? ts);
  return channel === undefined || root === undefined ? `slack:${deliveryId}` : `slack:${channel}/${root}`;
}

/** Used for deliveries without an id from Slack. */
function stableId(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
