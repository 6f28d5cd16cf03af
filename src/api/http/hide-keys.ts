/** How each API key of Errand begins. */
export const KEY_PREFIX = "errand_";

const KEY = new RegExp(`${KEY_PREFIX}[\\w-]{43}`, "g");

/** Hides keys in a text, because a caller may have put one there by mistake. */
export function hideKeys(text: string): string {
  return text.replace(KEY, "[redacted]");
}
