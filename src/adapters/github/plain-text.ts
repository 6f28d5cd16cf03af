import { withoutTerminalCodes } from "../../core/basics/terminal-codes.ts";

/** Format characters (zero width, direction marks, tags), fillers and variation selectors that can carry hidden text. */
const INVISIBLE =
  /(?![\u200C\u200D])\p{Cf}|\u034F|[\u115F\u1160]|[\u17B4\u17B5]|[\u180B-\u180F]|[\u2800\u3164\uFFA0]|[\uFE00-\uFE0D]|[\u{E0100}-\u{E01EF}]|(?<=[\uFE0E\uFE0F])[\uFE0E\uFE0F]/gu;
/**
 * Joiners are needed in Persian, Indic scripts and emoji. A single one between two characters outside ASCII is not
 * removed.
 */
const STRAY_JOINER =
  /(?<![^\p{ASCII}\u200C\u200D])[\u200C\u200D]|[\u200C\u200D](?![^\p{ASCII}\u200C\u200D])/gu;
const CONTROL = /[^\P{Cc}\n\t]/gu;

/** The text as a user sees it: no terminal codes, control or invisible characters, no broken surrogates. */
export function visibleText(text: string): string {
  return withoutTerminalCodes(text.toWellFormed())
    .replace(/\r\n?|\u2028|\u2029/g, "\n")
    .replace(CONTROL, "")
    .replace(INVISIBLE, "")
    .replace(STRAY_JOINER, "");
}

/** Visible text on one line, at most `limit` characters of it. */
export function oneLine(text: string, limit: number): string {
  const line = visibleText(text).replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${withoutHalfCharacter(line.slice(0, limit - 1))}…`;
}

export function withoutHalfCharacter(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}
