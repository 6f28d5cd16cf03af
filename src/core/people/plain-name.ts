/** Characters that change or hide others: controls, what fonts do not show, and marks of writing direction. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Joiners between letters of scripts that join, for example in Persian names, belong to the word. */
const NOT_JOINING =
  /(?<![[\p{L}\p{M}]--\p{ASCII}])[\u200C\u200D]|[\u200C\u200D](?![[\p{L}\p{M}]--\p{ASCII}])/gv;
const HIDDEN_EXCEPT_JOINERS = new RegExp(`(?![\\u200C\\u200D])${HIDDEN.source}`, "gu");

/**
 * A name from outside as it may stand beside our own words: without characters that nobody sees. Undefined if nothing is
 * left.
 */
export function plainName(name: string): string | undefined {
  const spaced = name.replace(/[\s\p{Zl}\p{Zp}]+/gu, " ");
  const plain = spaced.replace(HIDDEN_EXCEPT_JOINERS, "").replace(NOT_JOINING, "").trim();
  return plain === "" ? undefined : plain;
}

/** Whether the text is one address, without characters that nobody sees. */
export function isPlainEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/u.test(text) && !HIDDEN.test(text);
}
