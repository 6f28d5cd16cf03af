/** The characters that git writes as a backslash and a letter. */
const LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/**
 * A path as it is written at the beginning of the text. Git puts a path into quotes if it has a quote, a backslash, a
 * control character or a byte outside of ASCII, and writes these bytes as escapes.
 */
function readQuoted(text: string): { readonly path: string; readonly rest: string } | undefined {
  const written = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  if (written === null) {
    return undefined;
  }
  const [whole, inside = ""] = written;
  const bytes: number[] = [];
  for (const [part, octal, letter] of inside.matchAll(/\\([0-7]{1,3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8) & 0xff);
    } else if (letter !== undefined) {
      bytes.push(LETTERS[letter] ?? letter.charCodeAt(0));
    } else {
      bytes.push(...new TextEncoder().encode(part));
    }
  }
  return { path: new TextDecoder().decode(Uint8Array.from(bytes)), rest: text.slice(whole.length) };
}

/** A path that is the rest of its line. Git ends an unquoted path that has a space with a tab. */
export function pathOf(text: string): string {
  return readQuoted(text)?.path ?? text.replace(/\t$/, "");
}

/** The new path in the line `diff --git a/x b/x` of a file that was not renamed: it has the same path twice. */
export function pathOfHeading(line: string): string {
  const paths = line.slice("diff --git ".length);
  const quoted = readQuoted(paths);
  return (quoted?.path ?? paths.slice(0, (paths.length - 1) / 2)).slice("a/".length);
}
