import type { types } from "@slack/bolt";
import { z } from "zod";
import { messageKeyOf } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { defuse, defuseLine, defuseMrkdwn } from "./defuse.ts";

/** What a message shows. `text` is for notifications and screen readers. */
export interface Rendered {
  readonly marker: Marker;
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
  /** The same with a block of Slack for this subject, which not every workspace takes. */
  readonly newer?: { readonly subject: "plan" | "rating"; readonly blocks: readonly types.KnownBlock[] };
  /** The same with Markdown of which Slack makes fewer blocks. */
  readonly fewerBlocks?: readonly types.KnownBlock[];
  /** The whole message for a workspace that refuses the blocks. */
  readonly plainText: string;
}

// https://docs.slack.dev/reference/block-kit/blocks
export const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
export const MAX_FALLBACK = 1_000;
const MAX_LINE = 500;

export function header(text: string, blockId: string): types.HeaderBlock {
  return { type: "header", block_id: blockId, text: { type: "plain_text", text, emoji: false } };
}

export function context(mrkdwn: string, blockId?: string): types.ContextBlock {
  const id = blockId === undefined ? {} : { block_id: blockId };
  return { type: "context", ...id, elements: [{ type: "mrkdwn", text: mrkdwn, verbatim: true }] };
}

/** For text that others chose. */
export function plainContext(text: string): types.ContextBlock {
  const words = defuseLine(text, MAX_LINE);
  return { type: "context", elements: [{ type: "plain_text", text: words, emoji: false }] };
}

/** `plain_text` has no mentions and no markup. */
export function plainSection(text: string): types.SectionBlock {
  const words = defuse(text, MAX_SECTION).text || "…";
  return { type: "section", text: { type: "plain_text", text: words, emoji: false } };
}

/** `verbatim`: Slack does not look for names of channels and people in the text. */
export function mrkdwnSection(text: string): types.SectionBlock {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

export interface PlainWords {
  readonly heading: string;
  readonly text: string;
  readonly sessionLink: string | undefined;
  /** The most characters. */
  readonly max: number;
}

/** The words without markup, and where the rest of them is. */
export function plainText({ heading, max, sessionLink, text }: PlainWords): string {
  const link = sessionLink === undefined ? "" : `<${safeUrl(sessionLink)}>`;
  const room = max - heading.length - link.length - 2;
  const words = text === "" ? "" : defuseMrkdwn(text, room);
  return [heading === "" ? "" : defuseMrkdwn(heading, MAX_HEADER + MAX_HEADER), words, link]
    .filter((part) => part !== "")
    .join("\n");
}

/** Slack takes a text of this length from every method. */
const MAX_SHORT = 3_000;

/** The start of a plain text, and its link to the session. */
export function shortened(text: string): string {
  if (text.length <= MAX_SHORT) {
    return text;
  }
  const address = /^<https?:[^\s<>]+>$/m.exec(text)?.[0];
  const end = address === undefined ? "…" : `…\n${address}`;
  const head = text.slice(0, MAX_SHORT - end.length);
  return `${head.replace(/&[a-z]{0,3}$|[\uD800-\uDBFF]$/, "")}${end}`;
}

export function link(url: string, words: string): string {
  return `<${safeUrl(url)}|${words}>`;
}

/** A `verbatim` text has only links that are marked. */
export function withLinks(mrkdwn: string): string {
  return mrkdwn.replace(/\bhttps?:\/\/(?:(?!&[lg]t;)[^\s<>|`])+(?<![.,:;!?)"'])/g, "<$&>");
}

/** An address that ends neither a mrkdwn link nor a Markdown link. */
export function safeUrl(url: string): string {
  return url.replace(
    /[\s<>|()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

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

const markedSchema = z.object({
  metadata: z
    .object({ event_type: z.literal(EVENT_TYPE) })
    .optional()
    .catch(undefined),
  blocks: z.array(z.object({ block_id: z.string().optional() }).catch({})).catch([]),
});

/** Whether a server of Errand posted the message, this or another one. */
export function isMarked(message: unknown): boolean {
  const { blocks = [], metadata } = markedSchema.safeParse(message).data ?? {};
  return metadata !== undefined || blocks.some(({ block_id: id }) => id?.startsWith("errand:") === true);
}
