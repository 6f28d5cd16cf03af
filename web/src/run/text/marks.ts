/** Characters that change the direction of text or have no width: they can make a text look like another one. */
const HIDDEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Shows characters that would otherwise be invisible, as `‹U+202E›`. */
export function withVisibleMarks(text: string): string {
  return text.replace(
    HIDDEN,
    (mark) => `‹U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}›`,
  );
}

const SHOWN_LENGTH = 4_000;

/** A line that is so long that nobody reads it is cut. */
export function cutLines(text: string): string {
  return text.length <= SHOWN_LENGTH
    ? text
    : text
        .split("\n")
        .map((line) =>
          line.length <= SHOWN_LENGTH
            ? line
            : `${line.slice(0, SHOWN_LENGTH)}… (${line.length - SHOWN_LENGTH} more characters)`,
        )
        .join("\n");
}

/** The lines of a text, without empty ones at its end. Each run of line breaks is looked at once. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/(?<!\n)\n+$/, "").split("\n");
}
