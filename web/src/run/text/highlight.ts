import type { HighlighterCore, LanguageInput, ThemeRegistration } from "shiki/core";

/** A piece of code with the class of its colour. */
export interface Token {
  readonly text: string;
  readonly className: string;
}

/** The longest text that is coloured. Longer ones would block the page. */
const CODE_LENGTH_MAX = 60_000;

const LANGUAGES: Readonly<Record<string, () => Promise<unknown>>> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  prisma: () => import("shiki/langs/prisma.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

const OTHER_NAMES: Readonly<Record<string, string>> = {
  bash: "bash",
  cc: "c",
  cjs: "javascript",
  cs: "csharp",
  cts: "typescript",
  dockerfile: "docker",
  h: "c",
  cpp: "c",
  hpp: "c",
  htm: "html",
  js: "javascript",
  jsonc: "json",
  jsonl: "json",
  kt: "kotlin",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "html",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

/** The colours are the names of classes, because the page allows no styles in HTML. */
const CLASSES: Readonly<Record<string, string>> = {
  "#000001": "syn-key",
  "#000002": "syn-str",
  "#000003": "syn-fn",
  "#000004": "syn-num",
  "#000005": "syn-com",
};

const THEME: ThemeRegistration = {
  name: "errand",
  type: "light",
  fg: "#000000",
  bg: "#ffffff",
  settings: [
    { settings: { foreground: "#000000" } },
    {
      scope: [
        "keyword",
        "storage",
        "constant.language",
        "variable.language",
        "entity.name.tag",
        "keyword.operator.new",
      ],
      settings: { foreground: "#000001" },
    },
    { scope: ["keyword.operator", "punctuation"], settings: { foreground: "#000000" } },
    { scope: ["string", "markup.inline.raw", "constant.other.symbol"], settings: { foreground: "#000002" } },
    {
      scope: [
        "entity.name.function",
        "support.function",
        "entity.name.type",
        "entity.other.attribute-name",
        "markup.heading",
      ],
      settings: { foreground: "#000003" },
    },
    { scope: ["constant.numeric", "constant.character.escape"], settings: { foreground: "#000004" } },
    { scope: ["comment", "punctuation.definition.comment"], settings: { foreground: "#000005" } },
  ],
};

let highlighter: Promise<HighlighterCore> | undefined;

/** The language of a file by its name, or of a block of code by its label. */
export function languageOf(name: string): string | undefined {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const word = last.startsWith("dockerfile") ? "dockerfile" : last.slice(last.lastIndexOf(".") + 1);
  const language = OTHER_NAMES[word] ?? word;
  return Object.hasOwn(LANGUAGES, language) ? language : undefined;
}

/** Returns the lines of a code as tokens; undefined if it has no colours. */
export async function tokensOf(
  code: string,
  language: string,
): Promise<readonly (readonly Token[])[] | undefined> {
  const load = LANGUAGES[language];
  if (load === undefined || code.length > CODE_LENGTH_MAX) {
    return undefined;
  }
  highlighter ??= create();
  const core = await highlighter;
  if (!core.getLoadedLanguages().includes(language)) {
    await core.loadLanguage(load as LanguageInput);
  }
  const { tokens } = core.codeToTokens(code, {
    lang: language,
    theme: "errand",
    tokenizeMaxLineLength: 1_000,
  });
  return tokens.map((line) =>
    line.map(({ content, color }) => ({
      text: content,
      className: CLASSES[color?.toLowerCase() ?? ""] ?? "",
    })),
  );
}

async function create(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
    import("shiki/core"),
    import("shiki/engine/javascript"),
  ]);
  return createHighlighterCore({
    themes: [THEME],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}
