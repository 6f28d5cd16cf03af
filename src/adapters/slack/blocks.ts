import type { types } from "@slack/bolt";
import { defuse, defuseLine, defuseMrkdwn } from "./defuse.ts";
import type { Marker } from "./marker.ts";

/** What a message shows. `text` is for notifications and screen readers. */
export interface Rendered {
  readonly marker: Marker;
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
  /** The same with the plan as Slack's own block, which not every workspace takes. */
  readonly planBlocks?: readonly types.KnownBlock[];
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
