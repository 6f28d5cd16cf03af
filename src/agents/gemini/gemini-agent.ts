import { join } from "node:path";
import { type AgentDefinition, modelAddress, PLACEHOLDER_KEY } from "../agent-definition.ts";
import { GEMINI_MODELS } from "../known-models.ts";

/** The lowest of its settings, so that those of a repository still count. */
const DEFAULTS = ".errand/gemini.json";
/** Without the first it reads only its own file, which few repositories have. */
const INSTRUCTIONS = ["AGENTS.md", "GEMINI.md"];

export const geminiAgent: AgentDefinition = {
  name: "gemini",
  displayName: "Gemini CLI",
  description: "Google's coding agent.",
  license: "Apache-2.0",
  npmPackage: { name: "@google/gemini-cli", version: "0.61.0", lockDirectory: import.meta.dirname },
  providers: ["gemini"],
  models: GEMINI_MODELS,
  countsUsage: "by turn",
  acceptsMcpServers: true,
  skillFolder: ".gemini/skills",
  isDemo: false,
  launch: ({ address, directory, home, model, permissionPolicy }) => ({
    argv: [
      ...([process.execPath, join(directory, "node_modules/@google/gemini-cli/bundle/gemini.js")] as const),
      // Without --skip-trust the agent refuses each edit, whatever is allowed.
      ...["--acp", "--skip-trust"],
      ...["--approval-mode", permissionPolicy === "allow" ? "yolo" : "default"],
      // Otherwise the agent asks another model which model to use.
      ...["--model", model?.id ?? GEMINI_MODELS[0].id],
    ],
    env: {
      GEMINI_API_KEY: PLACEHOLDER_KEY,
      GOOGLE_GEMINI_BASE_URL: modelAddress(address, "gemini"),
      GEMINI_TELEMETRY_ENABLED: "false",
      // Otherwise the agent restarts itself in another process.
      GEMINI_CLI_NO_RELAUNCH: "true",
      GEMINI_CLI_SYSTEM_DEFAULTS_PATH: join(home, DEFAULTS),
    },
    files: { [DEFAULTS]: JSON.stringify({ context: { fileName: INSTRUCTIONS } }) },
    readable: [directory, process.execPath],
    authenticate: "gemini-api-key",
    setsModel: true,
  }),
};
