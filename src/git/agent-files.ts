/**
 * What agents read by themselves from the repository that they work in, as patterns of a sparse checkout: settings that
 * name programs, hooks and servers, and instructions. Setup scripts and tasks of editors are among them.
 */
const AGENT_FILES = [
  ".claude/",
  ".codex/",
  ".copilot/",
  ".gemini/",
  ".opencode/",
  ".qwen/",
  ".agents/",
  ".errand/",
  ".vscode/",
  ".mcp.json",
  "opencode.json",
  "opencode.jsonc",
  "AGENTS.md",
  "AGENTS.override.md",
  "CLAUDE.md",
  "CLAUDE.local.md",
  "GEMINI.md",
  "QWEN.md",
  ".github/copilot*",
  ".github/agents/",
  ".github/hooks/",
  ".github/instructions/",
  ".github/skills/",
] as const;

/** Checks out everything except these files, in any folder. They stay in the commits, so no change shows that they are absent. */
export const WITHOUT_AGENT_FILES = ["/*", ...AGENT_FILES.map((pattern) => `!**/${pattern}`)].join("\n");
