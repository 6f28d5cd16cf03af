import { parseDocument } from "yaml";

export interface SkillText {
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** The text after the front matter, or everything when there is none. */
  readonly body: string;
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/m;
const NAME_LENGTH = 64;
const DESCRIPTION_LENGTH = 1_024;

/**
 * Reads a SKILL.md. An invalid front matter is not an error, because many are invalid and their texts are still
 * useful.
 */
export function readSkillText(text: string): SkillText {
  const whole = text
    .replace(/^\uFEFF/, "")
    .toWellFormed()
    .replaceAll("\0", "");
  const found = whole.startsWith("---") ? FRONT_MATTER.exec(whole) : null;
  if (found === null || found.index !== 0) {
    return { name: undefined, description: undefined, body: whole.trim() };
  }
  const yaml = found.groups?.yaml ?? "";
  const [members, lines] = [membersOf(yaml), linesOf(yaml)];
  return {
    name: words(members.name, NAME_LENGTH) ?? words(lines.name, NAME_LENGTH),
    description:
      words(members.description, DESCRIPTION_LENGTH) ?? words(lines.description, DESCRIPTION_LENGTH),
    body: whole.slice(found[0].length).trim(),
  };
}

type Members = Readonly<Record<string, unknown>>;

/** The document is not converted to objects: for keys that are collections in collections, that takes hours. */
function membersOf(yaml: string): Members {
  try {
    const document = parseDocument(yaml, { logLevel: "silent", prettyErrors: false, uniqueKeys: false });
    return document.errors.length > 0
      ? {}
      : { name: document.get("name"), description: document.get("description") };
  } catch {
    return {};
  }
}

/** Used for invalid YAML, which is mostly a colon in an unquoted description. Reading line by line is then enough. */
function linesOf(yaml: string): Members {
  const lines = yaml.matchAll(/^(name|description):[ \t]*(?![>|][-+]?\s*$)(.*)$/gm);
  return Object.fromEntries(Array.from(lines, ([, key = "", value = ""]) => [key, unquoted(value)]));
}

function unquoted(value: string): string {
  return value.trim().replace(/^(["'])(.*)\1$/, "$2");
}

/** The value as one line with a limited length; undefined when it is empty. */
function words(value: unknown, length: number): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") {
    return undefined;
  }
  const said = String(value)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return said === "" ? undefined : Array.from(said).slice(0, length).join("");
}
