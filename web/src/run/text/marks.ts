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
