import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { RepositoryClones } from "../../../src/git/repository-clones.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { SILENT_LOG } from "../../support/logs.ts";

/** What an agent reads by itself from the repository that it works in. */
interface ReadFiles {
  /** Settings that name programs, servers or hooks. */
  readonly settings: readonly [string, ...string[]];
  readonly skills: readonly [string, ...string[]];
  readonly instructions: readonly [string, ...string[]];
}

/**
 * By agent of the catalogue, from its documentation and its program. An agent that is new there needs a line here, and
 * its files in `src/git/agent-files.ts`: otherwise strangers could configure it by a pull request from a fork.
 */
const READ: Readonly<Record<string, ReadFiles>> = {
  claude: {
    settings: [".claude/settings.json", ".claude/settings.local.json", ".claude/agents/a.md", ".mcp.json"],
    skills: [".claude/skills/a/SKILL.md", ".claude/commands/a.md"],
    instructions: [
      "CLAUDE.md",
      "CLAUDE.local.md",
      ".claude/CLAUDE.md",
      ".claude/rules/a.md",
      "docs/CLAUDE.md",
    ],
  },
  codex: {
    settings: [".codex/config.toml", ".codex/hooks.json", ".codex/rules/default.rules"],
    skills: [".codex/skills/a/SKILL.md", ".agents/skills/a/SKILL.md"],
    instructions: ["AGENTS.md", "AGENTS.override.md", "docs/AGENTS.md"],
  },
  copilot: {
    settings: [
      ".github/copilot/settings.json",
      ".github/extensions/a/extension.mjs",
      ".github/hooks/hooks.json",
      ".github/mcp.json",
      ".github/lsp.json",
      ".github/agents/a.agent.md",
      ".github/plugin/marketplace.json",
      ".mcp.json",
      "lsp.json",
      ".vscode/mcp.json",
    ],
    skills: [".github/skills/a/SKILL.md", ".claude/skills/a/SKILL.md", ".agents/skills/a/SKILL.md"],
    instructions: [
      ".github/copilot-instructions.md",
      ".github/instructions/a.instructions.md",
      "AGENTS.md",
      "CLAUDE.md",
      "GEMINI.md",
    ],
  },
  gemini: {
    settings: [".gemini/settings.json", ".gemini/.env", ".gemini/extensions/a/gemini-extension.json", ".env"],
    skills: [".gemini/skills/a/SKILL.md", ".gemini/commands/a.toml", ".agents/skills/a/SKILL.md"],
    instructions: ["GEMINI.md", "docs/GEMINI.md"],
  },
  opencode: {
    settings: [
      "opencode.json",
      "opencode.jsonc",
      ".opencode/opencode.json",
      ".opencode/plugin/a.ts",
      "bunfig.toml",
    ],
    skills: [".opencode/skills/a/SKILL.md", ".claude/skills/a/SKILL.md", ".agents/skills/a/SKILL.md"],
    instructions: ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"],
  },
  qwen: {
    settings: [
      ".qwen/settings.json",
      ".qwen/.env",
      ".qwen/agents/a.md",
      ".mcp.json",
      ".lsp.json",
      ".env.local",
    ],
    skills: [".qwen/skills/a/SKILL.md", ".qwen/commands/a.md"],
    instructions: ["QWEN.md", "AGENTS.md", ".github/copilot-instructions.md"],
  },
};
/** The demo agent reads no such file. */
const AGENTS = [...createCatalogue().values()].filter(({ isDemo }) => !isDemo).map(({ name }) => name);
const KEPT = [".github/workflows/test.yml", "README.md", "docs/context.md", "src/claude.ts"];
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(`files of agents in a fork${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let root: string;
  let shown: readonly string[];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    root = await mkdtemp(join(tmpdir(), "errand-agent-files-"));
    const all = Object.values(READ).flatMap(({ instructions, settings, skills }) => [
      ...settings,
      ...skills,
      ...instructions,
    ]);
    await repositories.commit(
      "acme/web",
      Object.fromEntries([...all, ...KEPT].map((path) => [path, "evil"])),
    );
    const [baseUrl, directory] = [repositories.fileUrl, join(root, "fork")];
    const clones = new RepositoryClones({
      ...{ dataDir: root, baseUrl, log: SILENT_LOG },
      authorize: async () => undefined,
    });
    const repository = { teamId: "team-1" as TeamId, owner: "acme", name: "web" };
    const { signal } = new AbortController();
    const found = { ...(await clones.find(repository, undefined, signal)), isUntrusted: true } as const;
    await clones.clone({ repository, found, directory, signal });
    clones.close();
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    shown = entries
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name).slice(directory.length + 1))
      .filter((path) => !path.startsWith(".git/"));
  });
  afterAll(async () => {
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  test.each(AGENTS)("the settings, skills and instructions of %s are not checked out", (agent) => {
    const { instructions = [], settings = [], skills = [] } = READ[agent] ?? {};

    expect([settings.length, skills.length, instructions.length]).not.toContain(0);
    expect([...settings, ...skills, ...instructions].filter((path) => shown.includes(path))).toEqual([]);
  });

  test("the other files are checked out", () => {
    expect(shown.toSorted()).toEqual(KEPT.toSorted());
  });
});
