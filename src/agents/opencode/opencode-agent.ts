import { existsSync } from "node:fs";
import { join } from "node:path";
import { defined } from "../../core/basics/defined.ts";
import {
  type AgentDefinition,
  type LaunchRequest,
  modelAddress,
  PLACEHOLDER_KEY,
} from "../agent-definition.ts";
import { ANTHROPIC_MODELS, GEMINI_MODELS, OPENAI_MODELS } from "../known-models.ts";
import { hasCompatible, type PlacedModel } from "../models.ts";

const PROVIDER = "errand";
const INSTRUCTIONS = ".errand/instructions.md";
const ASKING = { edit: "ask", bash: "ask", webfetch: "ask", external_directory: "ask" };
/** For a model that the agent does not know. The agent needs a size to decide when to shorten the conversation. */
const LIMIT = { context: 128_000, output: 16_384 };

export const opencodeAgent: AgentDefinition = {
  name: "opencode",
  displayName: "OpenCode",
  description:
    "An open agent for any model: every server that speaks OpenAI's API, Anthropic's and Google's.",
  license: "MIT",
  npmPackage: { name: "opencode-ai", version: "1.18.33", lockDirectory: import.meta.dirname },
  providers: ["openai", "anthropic", "gemini"],
  models: [...OPENAI_MODELS, ...ANTHROPIC_MODELS, ...GEMINI_MODELS],
  countsUsage: "by turn",
  acceptsMcpServers: true,
  skillFolder: ".config/opencode/skills",
  isDemo: false,
  launch: (request) => ({
    argv: [opencodeProgram(request.directory), "acp"],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(request)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_SHARE: "1",
    },
    readable: [request.directory],
    setsModel: true,
    ...(request.basePrompt ? { files: { [INSTRUCTIONS]: request.basePrompt }, passesBasePrompt: true } : {}),
  }),
};

function configOf(request: LaunchRequest): object {
  const { basePrompt, home, model, permissionPolicy } = request;
  const name = `${PROVIDER}/${model?.id}`;
  return {
    ...(model === undefined
      ? {}
      : { model: name, small_model: name, provider: { [PROVIDER]: providerOf(request, model) } }),
    enabled_providers: [PROVIDER],
    permission: permissionPolicy === "allow" ? { "*": "allow" } : ASKING,
    ...defined({ instructions: basePrompt ? [join(home, INSTRUCTIONS)] : undefined }),
    autoupdate: false,
    share: "disabled",
  };
}

/** The libraries are part of its program. */
function providerOf({ address, servers }: LaunchRequest, { id, provider }: PlacedModel): object {
  const base = modelAddress(address, provider);
  const libraries = {
    openai: {
      npm: hasCompatible(servers) ? "@ai-sdk/openai-compatible" : "@ai-sdk/openai",
      baseURL: base,
    },
    anthropic: { npm: "@ai-sdk/anthropic", baseURL: `${base}/v1` },
    gemini: { npm: "@ai-sdk/google", baseURL: `${base}/v1beta` },
  };
  const { baseURL, npm } = libraries[provider];
  const modalities = { input: ["text", "image"], output: ["text"] };
  return {
    npm,
    options: { baseURL, apiKey: PLACEHOLDER_KEY },
    models: { [id]: { limit: LIMIT, attachment: true, tool_call: true, modalities } },
  };
}

/**
 * The program from the package for this machine. `opencode-ai` starts a copy that an install script makes, and Errand
 * runs no install scripts. npm installs what fits the machine; of two packages, one is for older processors.
 */
function opencodeProgram(directory: string): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const base = `opencode-${platform}-${process.arch}`;
  const candidates = [base, `${base}-musl`, `${base}-baseline`, `${base}-baseline-musl`];
  const paths = candidates.map((name) => join(directory, "node_modules", name, "bin", "opencode"));
  return paths.find((path) => existsSync(path)) ?? join(directory, "node_modules", base, "bin", "opencode");
}
