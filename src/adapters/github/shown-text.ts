import { type MarkdownPart, splitShown } from "./markdown-parts.ts";
import { visibleText } from "./plain-text.ts";

/** The named entities of characters that have a meaning in Markdown, and of those that show nothing. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  NewLine: "\n",
  Tab: "\t",
  shy: "",
  zwj: "",
  zwnj: "",
  lrm: "",
  rlm: "",
  ZeroWidthSpace: "",
  NegativeVeryThinSpace: "",
  NegativeThinSpace: "",
  NegativeMediumSpace: "",
  NegativeThickSpace: "",
  NoBreak: "",
  ApplyFunction: "",
  af: "",
  InvisibleTimes: "",
  it: "",
  InvisibleComma: "",
  ic: "",
};
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,24}));/g;
/** The title of a link, `[text](address "title")`, is not on the page. */
const LINK_TITLE = /(\]\(\s*[^\s()]+)\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*\)/g;
/** The words after the language of a fenced block are not on the page. */
const LANGUAGE = /^[\w+#.-]{1,20}/;

/**
 * The text that GitHub's page shows: without HTML comments, tags and their attributes, elements that are hidden,
 * images with their alternative texts, titles of links, and invisible characters, also those written as entities.
 * The addresses of links stay, because work often needs them.
 */
export function shownText(markdown: string): string {
  return visibleText(splitShown(visibleText(markdown)).map(shownPart).join(""));
}

function shownPart({ kind, language, source }: MarkdownPart): string {
  switch (kind) {
    case "comment":
      return "";
    case "fence":
      return source.replace(language, LANGUAGE.exec(language)?.[0] ?? "");
    case "span":
      return source;
    case "text":
      return source.replace(LINK_TITLE, "$1)").replace(ENTITY, decoded);
  }
}

function decoded(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) {
    return ENTITIES[name] ?? entity;
  }
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : "";
}
