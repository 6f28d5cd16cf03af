import type { types } from "@slack/bolt";
import type { ConversationsRepliesResponse, WebClient } from "@slack/web-api";
import { AppError } from "../../core/errors.ts";
import { messageKeyOf } from "../../core/threads/notice.ts";
import type { Delivery } from "../../core/threads/thread-adapter.ts";
import type { Bot } from "./bot-identity.ts";
import type { Shown } from "./receipt.ts";
import { callSlack } from "./slack-error.ts";
import { placeOf } from "./thread-key.ts";

const EVENT_TYPE = "errand_delivery";
const PAGE_SIZE = 200;
const MAX_PAGES = 20;

type Reply = NonNullable<ConversationsRepliesResponse["messages"]>[number];

/** The first mark of a message. Slack shows it to us in any case. */
export function blockIdOf(deliveryId: string): string {
  return `errand:${deliveryId}`;
}

/** The second mark. It also names the slot: a card may have been shown by the delivery before this one. */
export function metadataOf(deliveryId: string, slot: string): types.MessageMetadata {
  return { event_type: EVENT_TYPE, event_payload: { delivery_id: deliveryId, slot } };
}

/**
 * The message that an earlier try of this delivery has left, though we never heard of it. A thread too long to look
 * through is not answered with a guess: a second message would be worse than one that a person must look for.
 */
export async function findEarlierPost(
  client: WebClient,
  bot: Bot,
  delivery: Delivery,
): Promise<Shown | undefined> {
  const { channel, threadTs } = placeOf(delivery.thread.key);
  const page = { channel, ts: threadTs, limit: PAGE_SIZE, include_all_metadata: true };
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const call = client.conversations.replies(cursor === undefined ? page : { ...page, cursor });
    const answer = await callSlack("conversations.replies", call);
    const found = answer.messages?.find((reply) => isOf(bot, reply) && isMarked(reply, delivery));
    if (found?.ts !== undefined) return { channel, ts: found.ts };
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return undefined;
  }
  throw new AppError("operation_not_supported", "The thread is too long to find out whether this was shown.");
}

function isOf(bot: Bot, reply: Reply): boolean {
  return reply.user === bot.userId || (bot.botId !== undefined && reply.bot_id === bot.botId);
}

function isMarked({ metadata, blocks }: Reply, { id, notice }: Delivery): boolean {
  if (blocks?.some((block) => block.block_id === blockIdOf(id))) return true;
  const payload: Readonly<Record<string, unknown>> = { ...metadata?.event_payload };
  return (
    metadata?.event_type === EVENT_TYPE &&
    (payload.delivery_id === id || payload.slot === messageKeyOf(notice, id))
  );
}
