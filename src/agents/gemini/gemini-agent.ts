import { join } from "node:path";
import { type AgentDefinition, modelAddress, PLACEHOLDER_KEY } from "../agent-definition.ts";
import { GEMINI_MODELS } from "../known-models.ts";

export const geminiAgent: AgentDefinition = {
  name: "gemini",
  displayName: "Gemini CLI",
  description: "Google's coding agent.",
  license: "Apache-2.0",
  npmPackage: { name: "@google/gemini-cli", version: "0.61.0" },
  providers: ["gemini"],
  models: GEMINI_MODELS,
  tellsCost: false,
  countsUsage: "by turn",
  takesToolServers: true,
  isDemo: false,
  launch: ({ address, directory, model, permissionPolicy }) => ({
    argv: [
      ...([process.execPath, join(directory, "node_modules/@google/gemini-cli/bundle/gemini.js")] as const),
      // Without --skip-trust it refuses each edit, whatever it is allowed.
      ...["--acp", "--skip-trust"],
      ...["--approval-mode", permissionPolicy === "allow" ? "yolo" : "default"],
      // Its own choice is made by asking another model first.
      ...["--model", model?.id ?? GEMINI_MODELS[0].id],
    ],
    env: {
      GEMINI_API_KEY: PLACEHOLDER_KEY,
      GOOGLE_GEMINI_BASE_URL: modelAddress(address, "gemini"),
      GEMINI_TELEMETRY_ENABLED: "false",
      // Else it starts itself anew in a process of its own.
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    readable: [directory, process.execPath],
    authenticate: "gemini-api-key",
    setsModel: true,
  }),
};
