/**
 * What agents read by themselves from the repository that they work in, as patterns of a sparse checkout: settings that
 * name programs, hooks and servers, and instructions. Setup scripts, tasks of editors and files of environment variables
 * are among them. The test of this list has the files of each agent of the catalogue. No pattern ends with a slash, because a link with such a name leads to a folder with another one.
 */
const AGENT_FILES = [
  ".claude",
  ".codex",
  ".copilot",
  ".gemini",
  ".opencode",
  ".qwen",
  ".agents",
  ".errand",
  ".vscode",
  ".env*",
  ".mcp.json",
  ".lsp.json",
  "lsp.json",
  "bunfig.toml",
  "opencode.json",
  "opencode.jsonc",
  "AGENTS.md",
  "AGENTS.override.md",
  "CLAUDE.md",
  "CLAUDE.local.md",
  "CONTEXT.md",
  "GEMINI.md",
  "QWEN.md",
  ".github/copilot*",
  ".github/agents",
  ".github/extensions",
  ".github/hooks",
  ".github/instructions",
  ".github/lsp.json",
  ".github/mcp.json",
  ".github/plugin*",
  ".github/skills",
] as const;

/** `.github` is checked out only where it is a folder: behind a link, its files have other names. */
const GITHUB_FOLDER = ["!**/.github", "**/.github/"];

/**
 * Checks out everything except these files, in any folder. They stay in the commits, so no change shows that they are
 * absent.
 */
export const WITHOUT_AGENT_FILES = [
  "/*",
  ...GITHUB_FOLDER,
  ...AGENT_FILES.map((pattern) => `!**/${pattern}`),
].join("\n");

/** The same for a checkout of some folders. A pattern that brings `.github` back would do it in all folders. */
export const WITHOUT_AGENT_FILES_OF_FOLDERS = [
  "!**/.github",
  ...AGENT_FILES.map((pattern) => `!**/${pattern}`),
];
