import { hasHidden, withHiddenShown } from "../../basics/hidden-characters.ts";

/** How `withHiddenShown` shows a character. */
const SHOWN = /⟨U\+[0-9A-F]{4,6}⟩/gu;

/**
 * A name from outside as it may stand beside our own words: without characters that nobody sees. Undefined if nothing is
 * left.
 */
export function plainName(name: string): string | undefined {
  const spaced = name.replace(/[\s\u2028\u2029]+/gu, " ");
  const plain = withHiddenShown(spaced).replace(SHOWN, "").trim();
  return plain === "" ? undefined : plain;
}

/** Whether the text is one address, without characters that nobody sees. */
export function isPlainEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/u.test(text) && !hasHidden(text);
}
