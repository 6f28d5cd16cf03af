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

/** The values of `ERRAND_AGENT`. */
export const AGENT_SETTINGS = ["auto", ...AGENT_NAMES] as const;
export type AgentSetting = (typeof AGENT_SETTINGS)[number];

/** The words of a command: a JSON array, or a plain shell command with quotes. Undefined: it is neither. */
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

/** One word: adjacent pieces, each bare, in single quotes, or in double quotes with `\` before `"` and `\`. */
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
