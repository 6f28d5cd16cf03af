import { withoutTerminalCodes } from "../terminal-codes.ts";

/** Invisible, and enough for Slack and for people's eyes: `@channel` with it inside reads the same and calls nobody. */
const BREAK = "\u200B";
const ELLIPSIS = "…";

/** How our own bot is addressed; another program must not be made to do it by what a run prints. */
export const TRIGGER = "@errand";

const CALLING_WORDS = /(?<![\w.])@(?=(?:channel|here|everyone|group|errand)\b)/gi;
const CALLING_TAGS = /<(?=[@#][a-z0-9]|!(?:channel|here|everyone|group|subteam|date)\b)/gi;
const IMAGES = /!(?=\[)/g;
// Control characters but for tab and newline, and those that turn the direction of writing around.
const CONTROLS = /(?![\t\n])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text of anybody's, made safe for every field of a message: no ANSI, no control characters, nothing that calls
 * people, and images become links, so that no client fetches an address of the agent's choice.
 */
function defuse(text: string): string {
  return withoutTerminalCodes(text.replaceAll("\r\n", "\n"))
    .replace(CONTROLS, "")
    .replace(CALLING_TAGS, `<${BREAK}`)
    .replace(CALLING_WORDS, `@${BREAK}`)
    .replace(IMAGES, `!${BREAK}`);
}

/** Defused, at most `limit` characters, cut at a line or a word where one is near, never within a character. */
export function shorten(text: string, limit: number): { readonly text: string; readonly isCut: boolean } {
  // Before anything looks at it: what a run prints can be one line of a megabyte.
  const start = text.slice(0, 4 * limit);
  const safe = defuse(start).trim();
  if (start.length === text.length && safe.length <= limit) return { text: safe, isCut: false };
  const head = safe.slice(0, limit - ELLIPSIS.length).replace(/[\uD800-\uDBFF]$/, "");
  const nearest = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = nearest > limit * 0.9 ? head.slice(0, nearest) : head;
  return { text: `${kept}${ELLIPSIS}`, isCut: true };
}

/** Defused and shortened, on one line. Slack refuses empty text, so there is always some. */
export function plainWithin(text: string, limit: number): string {
  return shorten(text.replace(/\s+/g, " "), limit).text || ELLIPSIS;
}

/** Defused and escaped for a mrkdwn field; at most `limit` characters when escaped. */
export function mrkdwnWithin(text: string, limit: number): string {
  let escaped = "";
  for (const character of shorten(text, limit).text) {
    const next = escaped + escapeCharacter(character);
    if (next.length > limit - ELLIPSIS.length) return `${escaped}${ELLIPSIS}`;
    escaped = next;
  }
  return escaped || ELLIPSIS;
}

function escapeCharacter(character: string): string {
  if (character === "&") return "&amp;";
  if (character === "<") return "&lt;";
  return character === ">" ? "&gt;" : character;
}
