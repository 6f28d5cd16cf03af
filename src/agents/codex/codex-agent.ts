import { join } from "node:path";
import { defined } from "../../core/basics/defined.ts";
import {
  type AgentDefinition,
  type LaunchRequest,
  modelAddress,
  PLACEHOLDER_KEY,
} from "../agent-definition.ts";
import { OPENAI_MODELS } from "../known-models.ts";

const PROVIDER = "errand";
/** With more retries the agent takes minutes to report that a model does not answer. */
const RETRIES = 2;

/**
 * Our sandbox does not let the agent create its own, and each command would fail. In the mode without a sandbox the
 * agent never asks.
 */
const ASKING =
  "Commands cannot be run in your own sandbox here and fail there: whatever the reason that they give. Ask for each command " +
  "to be run outside of it (sandbox_permissions: require_escalated, with a justification); a person decides.";

export const codexAgent: AgentDefinition = {
  name: "codex",
  displayName: "Codex",
  description: "OpenAI's coding agent, for models that speak the Responses API.",
  license: "Apache-2.0",
  npmPackage: {
    name: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    lockDirectory: import.meta.dirname,
  },
  providers: ["openai"],
  models: OPENAI_MODELS,
  countsUsage: "by turn",
  acceptsMcpServers: true,
  skillFolder: ".codex/skills",
  isDemo: false,
  launch: (request) =>
    defined({
      argv: [
        process.execPath,
        join(request.directory, "node_modules/@agentclientprotocol/codex-acp/dist/index.js"),
      ],
      env: {
        CODEX_CONFIG: JSON.stringify(configOf(request)),
        MODEL_PROVIDER: PROVIDER,
        OPENAI_API_KEY: PLACEHOLDER_KEY,
        INITIAL_AGENT_MODE: request.permissionPolicy === "allow" ? "agent-full-access" : "read-only",
      },
      readable: [request.directory, process.execPath],
      setsModel: request.model !== undefined,
      instructions: request.permissionPolicy === "ask" ? ASKING : undefined,
    }),
};

function configOf({ address, model }: LaunchRequest): object {
  return defined({
    model: model?.id,
    model_providers: {
      [PROVIDER]: {
        name: PROVIDER,
        base_url: modelAddress(address, "openai"),
        env_key: "OPENAI_API_KEY",
        wire_api: "responses",
        request_max_retries: RETRIES,
        stream_max_retries: RETRIES,
      },
    },
    check_for_update_on_startup: false,
    analytics: { enabled: false },
  });
}
