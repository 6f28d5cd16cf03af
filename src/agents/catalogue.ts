import type { AgentDefinition } from "./agent-definition.ts";
import { claudeAgent } from "./claude/claude-agent.ts";
import { codexAgent } from "./codex/codex-agent.ts";
import { copilotAgent } from "./copilot/copilot-agent.ts";
import { type CustomCommand, customAgent } from "./custom/custom-agent.ts";
import { demoAgent } from "./demo-agent.ts";
import { geminiAgent } from "./gemini/gemini-agent.ts";
import { opencodeAgent } from "./opencode/opencode-agent.ts";
import { qwenAgent } from "./qwen/qwen-agent.ts";

export type AgentCatalogue = ReadonlyMap<string, AgentDefinition>;

/** All agents. Without a command there is no `custom`. */
export function createCatalogue(custom?: CustomCommand): AgentCatalogue {
  const agents = [
    codexAgent,
    claudeAgent,
    opencodeAgent,
    geminiAgent,
    qwenAgent,
    copilotAgent,
    demoAgent,
    ...(custom === undefined ? [] : [customAgent(custom)]),
  ];
  return new Map(agents.map((agent) => [agent.name, agent]));
}
