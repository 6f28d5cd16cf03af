export const AGENT_NAMES = [
  "codex",
  "claude",
  "opencode",
  "gemini",
  "qwen",
  "copilot",
  "demo",
  "custom",
] as const;

/** What `ERRAND_AGENT` may be. */
export const AGENT_SETTINGS = ["auto", ...AGENT_NAMES] as const;
export type AgentSetting = (typeof AGENT_SETTINGS)[number];

/**
 * The words of a command: a JSON array of them, or as a shell takes a plain command apart, by blanks, with quotes around
 * what belongs together. Undefined: it is neither.
 */
export function parseCommand(text: string): readonly [string, ...string[]] | undefined {
  const words = text.trim().startsWith("[") ? parseArray(text) : parseWords(text);
  const [program, ...args] = words ?? [];
  return program ? [program, ...args] : undefined;
}

function parseArray(text: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}

/** One word: pieces without a blank between them, each bare, quoted once, or quoted twice with `\` before `"` and `\`. */
const WORD = /(?:[^\s"'\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs;
const PIECE = /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s"'\\]+)/gs;

function parseWords(text: string): readonly string[] | undefined {
  const isWhole = text.replace(WORD, "").trim() === "";
  return isWhole ? Array.from(text.matchAll(WORD), ([word]) => unquoted(word)) : undefined;
}

function unquoted(word: string): string {
  return word.replace(
    PIECE,
    (_piece, escaped?: string, single?: string, double?: string, bare?: string) =>
      escaped ?? single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? bare ?? "",
  );
}
