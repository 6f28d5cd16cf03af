const USER = "[UW][A-Z0-9]+";
/** Every mention of a user begins with it. Slack escapes `<` in what users write. */
export const MENTION_START = "<@";
// No part contains `<`, otherwise a text of many beginnings would be searched to its end from each of them.
const USER_MENTION = new RegExp(`<@(${USER})(?:\\|([^<>]*))?>`, "g");
const LEADING_USER_MENTION = new RegExp(`^\\s*<@(${USER})(?:\\|[^<>]*)?>`);
const CHANNEL_MENTION = /<#([CGD][A-Z0-9]+)(?:\|([^<>]*))?>/g;
const SPECIAL_MENTION = /<!([^<>|]+)(?:\|([^<>]*))?>/g;
const LINK = /<([a-z][a-z0-9+.-]*:[^<>|]+)(?:\|([^<>]*))?>/gi;

/** True when the text mentions the user. Slack escapes `<` in code, so code has no mentions. */
export function hasMention(text: string, userId: string): boolean {
  return [...text.matchAll(USER_MENTION)].some(([, id]) => id === userId);
}

/** The ids of the users whom the text mentions, once each. */
export function mentionedUsers(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(USER_MENTION), ([, id = ""]) => id))];
}

/** True when the text begins with a mention of another user. */
export function startsWithOtherMention(text: string, userId: string): boolean {
  const addressed = LEADING_USER_MENTION.exec(text)?.[1];
  return addressed !== undefined && addressed !== userId;
}

/**
 * The readable text of a message, without the mention of the bot and without Slack's escapes:
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function withoutMention(text: string, botUserId: string): string {
  const ownMention = new RegExp(`<@${botUserId}(?:\\|[^<>]*)?>[,:]?[ \\t]*`, "g");
  const readable = text
    .replace(ownMention, "")
    .replace(USER_MENTION, (_, id: string, name?: string) => `@${name || id}`)
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
