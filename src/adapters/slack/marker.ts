import type { types } from "@slack/bolt";
import { messageKeyOf } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";

/** How a message of the bot is found again after a lost answer. */
export interface Marker {
  /** Slack always shows it to the bot. */
  readonly blockId: string;
  /** It also contains the message key, because an earlier delivery may have posted the card. */
  readonly metadata: types.MessageMetadata;
}

const EVENT_TYPE = "errand_delivery";

/** Each part of a long answer is a message of its own. */
export function markerOf({ id, notice }: Pick<Delivery, "id" | "notice">, part = 1): Marker {
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
interface ReadMessage {
  readonly metadata?: { readonly event_type?: string; readonly event_payload?: unknown };
  readonly blocks?: readonly { readonly block_id?: string }[];
}

export function hasMarker({ blocks, metadata }: ReadMessage, marker: Marker): boolean {
  if (blocks?.some(({ block_id: id }) => id === marker.blockId)) {
    return true;
  }
  const { event_payload: ours, event_type: type } = marker.metadata;
  const found: Readonly<Record<string, unknown>> = { ...(metadata?.event_payload as object | undefined) };
  const isSame = found.delivery_id === ours.delivery_id || found.message_key === ours.message_key;
  return metadata?.event_type === type && isSame;
}
