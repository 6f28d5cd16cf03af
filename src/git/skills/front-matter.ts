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

const MEMBER = /^([\w-]+):(?:[ \t]+(.*))?$/;
/** Indented, empty, or plain words at the left edge, which YAML does not allow. */
const CONTINUATION = /^(?:\s|$|[\p{L}\p{N}"'(])/u;
const BLOCK = /^[>|][-+\d]*(?:\s+#.*)?$/;

/**
 * Used for invalid YAML, which is mostly a colon in an unquoted description. Reading line by line is then enough: a
 * description is its line and those below it, up to the next member. Line breaks do not matter, because `words` makes
 * one line of them.
 */
function linesOf(yaml: string): Members {
  const members = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of yaml.split(/\r?\n/)) {
    const [, key, value = ""] = MEMBER.exec(line) ?? [];
    if (key !== undefined) {
      current = [value.trim().replace(BLOCK, "")];
      members.set(key, current);
    } else if (CONTINUATION.test(line)) {
      current?.push(line);
    } else {
      current = undefined;
    }
  }
  const [name = "", ...below] = members.get("name") ?? [];
  return {
    name: unquoted(name === "" ? below.join("\n") : name),
    description: unquoted((members.get("description") ?? []).join("\n")),
  };
}

function unquoted(value: string): string {
  const text = value.trim();
  const [, quote, inner = text] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quote === undefined) {
    return text;
  }
  return quote === "'"
    ? inner.replaceAll("''", "'")
    : inner.replaceAll(/\\([nt"\\])/g, (_, escaped: string) => (/[nt]/.test(escaped) ? " " : escaped));
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
