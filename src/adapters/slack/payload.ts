import { createHash } from "node:crypto";
import { z } from "zod";
import { cleaned } from "../../core/basics/clean-text.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { isDirect } from "./addresses.ts";

const NAME_LENGTH_MAX = 255;

export interface SlashCommand {
  readonly teamId: string;
  /** The organization of the workspace, on Enterprise Grid. */
  readonly enterpriseId?: string | undefined;
  readonly channel: string;
  readonly userId: string;
  readonly text: string;
  /** Slack's id of this command. */
  readonly triggerId: string;
}

/** The name of a command's event. Slack's own names have no space. */
export const COMMAND_EVENT = "slash command";

const text = z.string().optional().catch(undefined);
const eventSchema = z.object({
  type: text,
  event_id: text,
  trigger_id: text,
  event: z.looseObject({ type: z.string() }).optional(),
});

const messageSchema = z.object({ bot_id: text, ts: text, thread_ts: text });
const threadSchema = messageSchema.extend({
  type: text,
  channel: z
    .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
    .optional()
    .catch(undefined),
  message: messageSchema.optional().catch(undefined),
  previous_message: messageSchema.optional().catch(undefined),
  deleted_ts: text,
  item: messageSchema.extend({ channel: text }).optional().catch(undefined),
});

/** The event that stores what Slack sent, or undefined if it has no name. `raw` is its JSON as it arrived. */
export function eventOf(body: unknown, raw: string): ReceivedEvent | undefined {
  const { event, event_id: eventId, trigger_id: triggerId, type } = eventSchema.safeParse(body).data ?? {};
  const name = event?.type ?? type;
  if (name === undefined) {
    return undefined;
  }
  // Slack's own events have an id. What a person presses has that of its dialog.
  const deliveryId = eventId ?? stableId(triggerId ?? raw);
  const orderingKey = storable(orderingKeyOf(event ?? body, deliveryId));
  return { adapter: "slack", body: raw, deliveryId: storable(deliveryId), name: storable(name), orderingKey };
}

/** The event that stores a command. Commands of one user are handled in order. */
export function commandEvent(command: SlashCommand): ReceivedEvent {
  const body = JSON.stringify(command);
  const deliveryId = stableId(command.triggerId || body);
  const orderingKey = storable(`slack:command/${command.teamId}/${command.userId}`);
  return { adapter: "slack", body, deliveryId, name: COMMAND_EVENT, orderingKey };
}

/** A name that the database accepts. Otherwise Slack would deliver the event again and again. */
export function storable(name: string): string {
  const plain = cleaned(name, (text) => text);
  return plain.length > NAME_LENGTH_MAX ? stableId(plain) : plain;
}

/**
 * The thread of an event or of a pressed button. An event without a thread has a key of its own. The messages of one bot
 * in a channel share a key, so that its runs are counted exactly.
 */
export function orderingKeyOf(subject: unknown, deliveryId: string): string {
  const parsed = threadSchema.safeParse(subject);
  const { deleted_ts: deletedTs, item, message, previous_message: previous } = parsed.data ?? {};
  const channel = parsed.data?.channel ?? item?.channel;
  const deleted = deletedTs === undefined ? undefined : { ts: deletedTs, thread_ts: previous?.thread_ts };
  const { ts, thread_ts: threadTs } = message ?? deleted ?? item ?? parsed.data ?? {};
  const isWritten = parsed.data?.type === "message" || parsed.data?.type === "app_mention";
  const { bot_id: bot } = message ?? previous ?? parsed.data ?? {};
  const thread = bot === undefined || !isWritten ? (threadTs ?? ts) : `bot/${bot}`;
  const root = channel !== undefined && isDirect(channel) ? "" : thread;
  return channel === undefined || root === undefined ? `slack:${deliveryId}` : `slack:${channel}/${root}`;
}

/** Used for deliveries without an id from Slack. */
function stableId(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
