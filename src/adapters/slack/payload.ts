import { createHash } from "node:crypto";
import { z } from "zod";
import { cleaned } from "../../core/basics/clean-text.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { isDirect } from "./addresses.ts";
import { isIrrelevant } from "./irrelevant-events.ts";

const NAME_LENGTH_MAX = 255;

/** What Slack sends, whether by HTTP or by Socket Mode. */
export type SlackPayload =
  | { readonly kind: "malformed" }
  /** It is not for a bot. */
  | { readonly kind: "unused" }
  | { readonly kind: "challenge"; readonly challenge: string }
  /** Slack drops events of the app. */
  | { readonly kind: "rate_limited" }
  | { readonly kind: "command"; readonly command: SlashCommand }
  /** Slack asks for the options of a menu, and shows them while the user types. */
  | { readonly kind: "options"; readonly request: unknown }
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
const OPTIONS_REQUEST = "block_suggestion";

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

/** Reads the JSON of the Events API. */
export function readEvent(body: string): SlackPayload {
  const parsed = eventSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    return { kind: "malformed" };
  }
  const { type, challenge, event, event_id: eventId } = parsed.data;
  if (type === "url_verification") {
    return { kind: "challenge", challenge: challenge ?? "" };
  }
  if (type === "app_rate_limited") {
    return { kind: "rate_limited" };
  }
  if (event !== undefined && isIrrelevant(event)) {
    return { kind: "unused" };
  }
  return eventOf({ deliveryId: eventId ?? stableId(body), name: event?.type ?? type, body }, event);
}

/** Reads the JSON of a button, a menu or a dialog. */
export function readInteraction(body: string): SlackPayload {
  const parsed = interactionSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    return { kind: "malformed" };
  }
  const { type: name, trigger_id: triggerId } = parsed.data;
  return name === OPTIONS_REQUEST
    ? { kind: "options", request: parsed.data }
    : eventOf({ deliveryId: stableId(triggerId ?? body), name, body }, parsed.data);
}

/** Reads the fields of a slash command. What could answer it later, such as its `response_url`, is dropped. */
export function readCommand(fieldOf: (name: string) => unknown): SlackPayload {
  const [teamId = "", channel = "", userId = "", words = "", triggerId = ""] = [
    "team_id",
    "channel_id",
    "user_id",
    "text",
    "trigger_id",
  ].map((name) => {
    const value = fieldOf(name);
    return typeof value === "string" ? value : "";
  });
  return { kind: "command", command: { teamId, channel, userId, text: words.trim(), triggerId } };
}

/** The event that stores a command. Commands of one user are handled in order. */
export function commandEvent(command: SlashCommand): ReceivedEvent {
  const body = JSON.stringify(command);
  const deliveryId = stableId(command.triggerId || body);
  const orderingKey = storable(`slack:command/${command.teamId}/${command.userId}`);
  return { adapter: "slack", body, deliveryId, name: COMMAND_EVENT, orderingKey };
}

function eventOf(event: Pick<ReceivedEvent, "deliveryId" | "name" | "body">, subject: unknown): SlackPayload {
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
