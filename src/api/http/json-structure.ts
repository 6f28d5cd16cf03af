/** Deeper than anything that is asked for here, and far from exhausting the stack. */
export const DEPTH_MAX = 64;
/** Brackets, commas, numbers, indentation. */
const OUTSIDE_MAX = 2 ** 17;
/** Escaped ones too: a prompt may be made of nothing else. */
const QUOTES_MAX = 600_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: readonly (number | undefined)[] = [0x5b, 0x7b];
const CLOSING: readonly (number | undefined)[] = [0x5d, 0x7d];

/**
 * Why a JSON text would keep the parser, and with it everybody else, for long; undefined: it does not. What a text costs to
 * parse depends on how much structure it has: a mebibyte of brackets takes 75 ms, of one string 1 ms. So strings are stepped
 * over. What else is wrong with a text, the parser says.
 */
export function excessOf(text: Buffer): string | undefined {
  let depth = 0;
  let outside = 0;
  let quotes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      const string = stringAt(text, at, QUOTES_MAX - quotes);
      quotes += string.quotes;
      at = string.end;
    } else outside += 1;
    if (OPENING.includes(byte)) depth += 1;
    else if (CLOSING.includes(byte)) depth -= 1;
    if (depth > DEPTH_MAX) return `must not be nested deeper than ${DEPTH_MAX}`;
    if (outside > OUTSIDE_MAX) return `must have at most ${OUTSIDE_MAX} bytes outside of texts`;
    if (quotes > QUOTES_MAX) return `must have at most ${QUOTES_MAX} quotation marks`;
  }
  return undefined;
}

/** Where the string that begins at `start` ends, and how many quotation marks it has: no more than one beyond `max`. */
function stringAt(
  text: Buffer,
  start: number,
  max: number,
): { readonly end: number; readonly quotes: number } {
  let quotes = 1;
  for (let at = text.indexOf(QUOTE, start + 1); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    quotes += 1;
    if (quotes > max || !isEscaped(text, at)) return { end: at, quotes };
  }
  return { end: text.length, quotes };
}

function isEscaped(text: Buffer, at: number): boolean {
  let before = at;
  while (text[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
