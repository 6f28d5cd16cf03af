import { join } from "node:path";
import { type AgentDefinition, modelAddress, PLACEHOLDER_KEY } from "../agent-definition.ts";
import { OPENAI_MODELS } from "../known-models.ts";

export const qwenAgent: AgentDefinition = {
  name: "qwen",
  displayName: "Qwen Code",
  description: "Alibaba's coding agent, for models that speak OpenAI's chat API.",
  license: "Apache-2.0",
  npmPackage: { name: "@qwen-code/qwen-code", version: "0.24.4", lockDirectory: import.meta.dirname },
  providers: ["openai"],
  models: OPENAI_MODELS,
  countsUsage: "by turn",
  acceptsMcpServers: true,
  skillFolder: ".qwen/skills",
  isDemo: false,
  launch: ({ address, directory, model, permissionPolicy }) => ({
    argv: [
      ...([process.execPath, join(directory, "node_modules/@qwen-code/qwen-code/cli-entry.js")] as const),
      ...["--acp", "--approval-mode", permissionPolicy === "allow" ? "yolo" : "default"],
    ],
    env: {
      OPENAI_API_KEY: PLACEHOLDER_KEY,
      OPENAI_BASE_URL: modelAddress(address, "openai"),
      OPENAI_MODEL: model?.id ?? OPENAI_MODELS[0].id,
      QWEN_TELEMETRY_ENABLED: "false",
      // Otherwise the agent restarts itself in another process.
      QWEN_CODE_NO_RELAUNCH: "true",
      // A timer would end with the turn. So would subagents and commands in the background, but there is no switch for
      // them: QWEN_CODE_MAX_BACKGROUND_AGENTS is at least 1. Only the standing instructions speak against them.
      QWEN_CODE_DISABLE_CRON: "1",
    },
    readable: [directory, process.execPath],
    authenticate: "openai",
    setsModel: true,
  }),
};
