import { AnsiUp } from "ansi_up";

/** A piece of terminal output that looks the same. */
export interface Segment {
  readonly text: string;
  readonly className: string;
  /** A colour that has no name. */
  readonly style: { readonly color?: string; readonly backgroundColor?: string } | undefined;
}

/** ansi_up writes these as styles. They are read back as classes, because the page allows no styles in HTML. */
const STYLES = ["bold", "faint", "italic", "underline"] as const;

/** Splits terminal output at its colours. Everything else that a terminal would obey is left out. */
export function segmentsOf(output: string): readonly Segment[] {
  const ansi = new AnsiUp();
  ansi.use_classes = true;
  ansi.url_allowlist = {};
  for (const style of STYLES) {
    ansi[`${style}Style`] = style;
  }
  const html = ansi.ansi_to_html(printed(output));
  return Array.from(html.matchAll(SPAN), ([, attributes, inside, plain]) => ({
    text: decoded(inside ?? plain ?? ""),
    ...looks(attributes ?? ""),
  })).filter(({ text }) => text !== "");
}

/** The spans of ansi_up are flat, and their text is escaped. */
const SPAN = /<span([^>]*)>([^<]*)<\/span>|([^<]+)|<[^>]*>/g;

function looks(attributes: string): Omit<Segment, "text"> {
  const classes = (/class="([^"]*)"/.exec(attributes)?.[1] ?? "").split(" ");
  const styles = (/style="([^"]*)"/.exec(attributes)?.[1] ?? "").split(";");
  const named = styles
    .filter((style) => STYLES.some((known) => known === style))
    .map((style) => `ansi-${style}`);
  const color = colorOf(styles, "color:");
  const backgroundColor = colorOf(styles, "background-color:");
  const style = { ...(color && { color }), ...(backgroundColor && { backgroundColor }) };
  return {
    className: [...classes, ...named].filter(Boolean).join(" "),
    style: color === undefined && backgroundColor === undefined ? undefined : style,
  };
}

function colorOf(styles: readonly string[], name: string): string | undefined {
  const value = styles.find((style) => style.startsWith(name))?.slice(name.length);
  return value !== undefined && /^rgb\([\d,]+\)$/.test(value) ? value : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** What remains on the screen of a line that a program writes again and again, such as a progress bar. */
function printed(output: string): string {
  return output
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/(?<!\r)\r+$/, "").lastIndexOf("\r") + 1).replaceAll("\r", ""))
    .join("\n")
    .replaceAll(CONTROLS, "");
}

/** Control characters except tab, line feed and escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is removed.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/g;
