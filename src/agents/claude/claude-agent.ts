import { join } from "node:path";
import { defined } from "../../core/basics/defined.ts";
import { type AgentDefinition, modelAddress, PLACEHOLDER_KEY } from "../agent-definition.ts";
import { ANTHROPIC_MODELS } from "../known-models.ts";

/** During its own ten retries the agent reports nothing. */
const RETRIES = "2";

/**
 * Tools whose work comes after the end of a turn, when the agent's processes no longer exist, or is in another folder than
 * the clone, from which it is not handed over.
 */
const DENIED_TOOLS = [
  "CronCreate",
  "CronDelete",
  "CronList",
  "EnterWorktree",
  "ExitWorktree",
  "Monitor",
  "RemoteTrigger",
  "ScheduleWakeup",
];

export const claudeAgent: AgentDefinition = {
  name: "claude",
  displayName: "Claude Code",
  description: "Anthropic's coding agent.",
  license: "Apache-2.0; the runtime that it brings along is under Anthropic's Commercial Terms",
  npmPackage: {
    name: "@agentclientprotocol/claude-agent-acp",
    version: "0.100.0",
    lockDirectory: import.meta.dirname,
  },
  providers: ["anthropic"],
  models: ANTHROPIC_MODELS,
  countsUsage: "by turn",
  acceptsMcpServers: true,
  skillFolder: ".claude/skills",
  isDemo: false,
  launch: ({ address, directory, model }) => ({
    argv: [
      process.execPath,
      join(directory, "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"),
    ],
    env: {
      ANTHROPIC_API_KEY: PLACEHOLDER_KEY,
      ANTHROPIC_BASE_URL: modelAddress(address, "anthropic"),
      ...defined({ ANTHROPIC_MODEL: model?.id }),
      CLAUDE_CODE_MAX_RETRIES: RETRIES,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // Otherwise the agent hides the tools of MCP servers behind its own search.
      ENABLE_TOOL_SEARCH: "false",
      // Commands and subagents in the background would end with the turn.
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_DISABLE_CRON: "1",
    },
    files: {
      ".claude/settings.json": JSON.stringify({ permissions: { deny: DENIED_TOOLS } }),
    },
    readable: [directory, process.execPath],
    setsModel: model !== undefined,
  }),
};
