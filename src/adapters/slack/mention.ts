import { parseCommand } from "../../core/threads/inbox/parse-command.ts";
import type { Bot } from "./identity.ts";

const USER = "[UW][A-Z0-9]+";
/** Every mention of a user begins with it. Slack escapes `<` in what users write. */
export const MENTION_START = "<@";
// No part contains `<`, otherwise a text of many beginnings would be searched to its end from each of them.
const USER_MENTION = new RegExp(`<@(${USER})(?:\\|([^<>]*))?>`, "g");
const LEADING_USER_MENTION = new RegExp(`^\\s*<@(${USER})(?:\\|[^<>]*)?>`);
const CHANNEL_MENTION = /<#([CGD][A-Z0-9]+)(?:\|([^<>]*))?>/g;
const SPECIAL_MENTION = /<!([^<>|]+)(?:\|([^<>]*))?>/g;
const LINK = /<([a-z][a-z0-9+.-]*:[^<>|]+)(?:\|([^<>]*))?>/gi;

type Named = Pick<Bot, "name" | "otherIds" | "userId">;

/** True when the text mentions the bot outside of quotes. Slack escapes `<` in code, so code has no mentions. */
export function hasMention(text: string, bot: Named): boolean {
  return mentionedUsers(text).some((id) => isMentioned(bot, id));
}

function isMentioned({ otherIds = [], userId }: Named, id: string): boolean {
  return id === userId || otherIds.includes(id);
}

/** The ids of the users whom the text mentions outside of quotes, once each. */
export function mentionedUsers(text: string): readonly string[] {
  return [...new Set(Array.from(withoutQuotes(text).matchAll(USER_MENTION), ([, id = ""]) => id))];
}

/** A quote is the text of another author: one line, or after three signs all that follows. */
function withoutQuotes(text: string): string {
  return text.replace(/^&gt;&gt;&gt;[\s\S]*/m, "").replace(/^&gt;.*$/gm, "");
}

/** True when the text begins with a mention of another user. */
export function startsWithOtherMention(text: string, bot: Named): boolean {
  const addressed = LEADING_USER_MENTION.exec(text)?.[1];
  return addressed !== undefined && !isMentioned(bot, addressed);
}

/**
 * The readable text of a message without the mention of the bot before its words, and without one behind a control word.
 * Elsewhere the mention is a part of a sentence.
 */
export function withoutMention(text: string, bot: Named): string {
  const mention = `<@(?:${[bot.userId, ...(bot.otherIds ?? [])].join("|")})(?:\\|[^<>]*)?>`;
  const leading = new RegExp(`^((?:&gt;.*\\n|[ \\t]*\\n)*)[ \\t]*(?:${mention}[,:]?[ \\t]*)+`);
  const trailing = new RegExp(`(?<=[ \\t])${mention}[ \\t]*$`);
  const words = text.replace(leading, "$1");
  const alone = words.replace(trailing, "");
  const isControlWord = alone !== words && parseCommand({ text: readableText(alone, bot) }).kind !== "work";
  return readableText(isControlWord ? alone : words, bot);
}

/** The text without Slack's markup and escapes: https://docs.slack.dev/messaging/formatting-message-text */
export function readableText(text: string, bot: Named): string {
  const readable = text
    .replace(USER_MENTION, (_, id: string, name?: string) =>
      isMentioned(bot, id) ? `@${bot.name ?? "errand"}` : `@${name || id}`,
    )
    .replace(CHANNEL_MENTION, (_, id: string, name?: string) => `#${name || id}`)
    .replace(SPECIAL_MENTION, (_, name: string, label?: string) => label || `@${name}`)
    .replace(LINK, (_, url: string, label?: string) => readableLink(url, label));
  return withoutEscapes(readable).trim();
}

/** Slack also turns `foo.py` and `example.com` into links. The label is then what the author typed. */
function readableLink(url: string, label: string | undefined): string {
  if (!label || label === url) {
    return url;
  }
  const isAutomatic = url.replace(/^(https?:\/\/|mailto:|tel:)/i, "").replace(/\/$/, "") === label;
  return isAutomatic ? label : `${label} (${url})`;
}

/** Replaces `&amp;` last, otherwise `&amp;lt;` would become `<`. */
function withoutEscapes(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
