import { withoutTerminalCodes } from "../../core/basics/clean-text.ts";

/** Invisible. `@channel` with this character inside reads the same and notifies nobody. */
const BREAK = "\u200B";
const ELLIPSIS = "…";

const CALLING_WORDS = /(?<![\w.])@(?=(?:channel|here|everyone|group|errand)\b)/gi;
const CALLING_TAGS = /<(?=[@#][a-z0-9]|!(?:channel|here|everyone|group|subteam|date)\b)/gi;
const IMAGES = /!(?=\[)/g;
// Control characters except tab and newline, and characters that reverse the writing direction.
const CONTROLS = /(?![\t\n])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Untrusted text, safe for every field of a message: no ANSI or control characters, no notifications. Images become
 * links, so that no client fetches an address that the agent chose.
 */
function withoutEffects(text: string): string {
  return withoutTerminalCodes(text.replaceAll("\r\n", "\n"))
    .replace(CONTROLS, "")
    .replace(CALLING_TAGS, `<${BREAK}`)
    .replace(CALLING_WORDS, `@${BREAK}`)
    .replace(IMAGES, `!${BREAK}`);
}

/** Defused and cut to `limit` characters, at a line or a word if one is near, never within a character. */
export function defuse(text: string, limit: number): { readonly text: string; readonly isCut: boolean } {
  // Cuts first, because the output of a run can be one line of a megabyte.
  const start = text.slice(0, 4 * limit);
  const safe = withoutEffects(start).trim();
  if (start.length === text.length && safe.length <= limit) {
    return { text: safe, isCut: false };
  }
  const head = safe.slice(0, limit - ELLIPSIS.length).replace(/[\uD800-\uDBFF]$/, "");
  const nearest = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = nearest > limit * 0.9 ? head.slice(0, nearest) : head;
  return { text: `${kept}${ELLIPSIS}`, isCut: true };
}

/** Defused, on one line. Never empty, because Slack refuses empty text. */
export function defuseLine(text: string, limit: number): string {
  return defuse(text.replace(/\s+/g, " "), limit).text || ELLIPSIS;
}

/** Defused and escaped for a mrkdwn field, at most `limit` characters after escaping. */
export function defuseMrkdwn(text: string, limit: number): string {
  let escaped = "";
  for (const character of defuse(text, limit).text) {
    const next = escaped + escapeCharacter(character);
    if (next.length > limit - ELLIPSIS.length) {
      return `${escaped}${ELLIPSIS}`;
    }
    escaped = next;
  }
  return escaped || ELLIPSIS;
}

function escapeCharacter(character: string): string {
  if (character === "&") {
    return "&amp;";
  }
  if (character === "<") {
    return "&lt;";
  }
  return character === ">" ? "&gt;" : character;
}

const LINK =
  /<(?:https?|mailto):[^\s<>|]{1,2000}\|([^<>|]{1,300})>|\[([^\][]{1,300})\]\(https?:[^\s()]{1,2000}\)/g;
const EMPHASIS = /(?<![\w*_~`])(\*\*|__|~~|[*_~`])(?=\S)([^*_~`\n]{1,300})(?<=\S)\1(?![\w*_~`])/g;

/** The words of a line that was written as mrkdwn or Markdown, for a field that shows marks as they are. */
export function withoutMarkup(line: string): string {
  return line
    .replace(/^(?:#{1,6}|>)\s+/, "")
    .replace(LINK, "$1$2")
    .replace(EMPHASIS, "$2");
}
