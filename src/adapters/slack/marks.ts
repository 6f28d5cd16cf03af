import type { types } from "@slack/bolt";
import { messageKeyOf } from "../../core/threads/notice.ts";
import type { Delivery } from "../../core/threads/thread-adapter.ts";

/** How a message of the bot is found again after a lost answer. */
export interface Mark {
  /** Slack always shows it to the bot. */
  readonly blockId: string;
  /** It also contains the message key, because an earlier delivery may have posted the card. */
  readonly metadata: types.MessageMetadata;
}

const EVENT_TYPE = "errand_delivery";

/** Each part of a long answer is a message of its own. */
export function markOf({ id, notice }: Pick<Delivery, "id" | "notice">, part = 1): Mark {
  const suffix = part === 1 ? "" : `:${part}`;
  return {
    blockId: `errand:${id}${suffix}`,
    metadata: {
      event_type: EVENT_TYPE,
      event_payload: {
        delivery_id: `${id}${suffix}`,
        message_key: `${messageKeyOf(notice, id)}${suffix}`,
      },
    },
  };
}

/** A message as Slack shows it to the bot. */
interface MarkedMessage {
  readonly metadata?: { readonly event_type?: string; readonly event_payload?: unknown };
  readonly blocks?: readonly { readonly block_id?: string }[];
}

export function isMarked({ blocks, metadata }: MarkedMessage, mark: Mark): boolean {
  if (blocks?.some(({ block_id: id }) => id === mark.blockId)) {
    return true;
  }
  const { event_payload: ours, event_type: type } = mark.metadata;
  const found: Readonly<Record<string, unknown>> = { ...(metadata?.event_payload as object | undefined) };
  const isSame = found.delivery_id === ours.delivery_id || found.message_key === ours.message_key;
  return metadata?.event_type === type && isSame;
}
