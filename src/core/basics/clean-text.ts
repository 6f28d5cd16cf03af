/** A longer text is cut, because the log does not store files. */
export const TEXT_LENGTH_MAX = 128_000;
/** Deeper nesting is cut, because neither this process nor the database could traverse it. */
const DEPTH_MAX = 100;
const CUT = "… [cut]";

/** Redacts secrets and removes what the database refuses (NUL, half a surrogate pair), and cuts very long texts. */
export function cleaned<T>(value: T, redact: (text: string) => string): T {
  return clean(value, redact) as T;
}

/**
 * The approximate length of `value` as JSON, with at most `textMax` characters of each text. Escapes do not count.
 */
export function lengthOf(value: unknown, textMax = Infinity, depth = 0): number {
  if (typeof value === "string") {
    return Math.min(value.length, textMax) + 2;
  }
  if (typeof value !== "object" || value === null) {
    return String(value).length;
  }
  if (depth === DEPTH_MAX) {
    return CUT.length + 2;
  }
  const lengths = Array.isArray(value)
    ? value.map((member) => lengthOf(member, textMax, depth + 1) + 1)
    : Object.entries(value).map(([key, member]) => key.length + 4 + lengthOf(member, textMax, depth + 1));
  // Counts the brackets, and one comma less than there are members.
  return lengths.reduce((sum, length) => sum + length, lengths.length === 0 ? 2 : 1);
}

function clean(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") {
    return cleanText(value, redact);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (depth === DEPTH_MAX) {
    return CUT;
  }
  if (Array.isArray(value)) {
    return value.map((member) => clean(member, redact, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [cleanText(key, redact), clean(member, redact, depth + 1)]),
  );
}

function cleanText(text: string, redact: (text: string) => string): string {
  return cutText(redact(text.replaceAll("\0", "\u2400").toWellFormed()), TEXT_LENGTH_MAX);
}

/** The longest beginning of the text that has at most `max` bytes of UTF-8. No character is split. */
export function beginningOf(text: string, max: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(max)).read);
}

export function cutText(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  return `${text.slice(0, max).toWellFormed()}… [${text.length - max} characters cut]`;
}

/** Leaves the beginning and the end, because a dangerous part may stand at both. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  const [head, tail] = [text.slice(0, Math.ceil((max * 3) / 4)), text.slice(-Math.floor(max / 4))];
  const left = text.length - head.length - tail.length;
  return `${head.toWellFormed()}… [${left} characters cut] …${tail.toWellFormed()}`;
}

/** Commands to a terminal with their arguments: a title or a link, a colour, a mode. */
const OPERATING_SYSTEM_COMMAND = "(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)";
const CONTROL_SEQUENCE = "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]";
const ESCAPE = "\\x1b[ -/]*[0-~]";
/** No alternative begins with a part of another, so hostile text takes no longer than any other. */
const CODES = new RegExp(`${OPERATING_SYSTEM_COMMAND}|${CONTROL_SEQUENCE}|${ESCAPE}`, "g");

/**
 * The text without sequences that only a terminal interprets (ECMA-48). Takes linear time, unlike Node's own
 * function.
 */
export function withoutTerminalCodes(text: string): string {
  return text.replace(CODES, "");
}

const TITLE_LENGTH_MAX = 80;

/** The first line of the text, or its beginning. */
export function titleFrom(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  if (line.length <= TITLE_LENGTH_MAX) {
    return line;
  }
  return `${Array.from(line).slice(0, TITLE_LENGTH_MAX).join("")}…`;
}
