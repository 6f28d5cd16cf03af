import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentDefinition, modelAddress, PLACEHOLDER_KEY, UNPACKED } from "../agent-definition.ts";
import { OPENAI_MODELS } from "../known-models.ts";
import { hasCompatible } from "../models.ts";

export const copilotAgent: AgentDefinition = {
  name: "copilot",
  displayName: "GitHub Copilot CLI",
  description: "GitHub's coding agent, with a model of yours instead of GitHub's; it needs no login.",
  license: "GitHub's own, for unmodified use",
  npmPackage: { name: "@github/copilot", version: "1.0.102", lockDirectory: import.meta.dirname },
  providers: ["openai"],
  models: OPENAI_MODELS,
  countsUsage: "by session",
  // With a model that is not GitHub's, the agent ignores them silently.
  acceptsMcpServers: false,
  skillFolder: ".copilot/skills",
  isDemo: false,
  unpacking: (directory) => ({
    argv: [programIn(directory), "--binary-version"],
    envFor: (target) => ({ COPILOT_SEA_EXTRACT_ONLY: "1", COPILOT_PKG_CACHE_HOME: target }),
  }),
  launch: ({ address, directory, model, permissionPolicy, servers }) => ({
    argv: [
      programIn(directory),
      ...["--acp", "--no-auto-update"],
      ...(permissionPolicy === "allow" ? ["--allow-all-tools", "--allow-all-paths"] : []),
    ],
    env: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_BASE_URL: modelAddress(address, "openai"),
      COPILOT_PROVIDER_API_KEY: PLACEHOLDER_KEY,
      COPILOT_PROVIDER_WIRE_API: hasCompatible(servers) ? "completions" : "responses",
      COPILOT_MODEL: model?.id ?? OPENAI_MODELS[0].id,
      COPILOT_AUTO_UPDATE: "false",
      ...packageCacheIn(directory),
    },
    readable: [directory],
    setsModel: true,
  }),
};

/** Without it the agent unpacks 235 MB into the home of each run. */
function packageCacheIn(directory: string): Readonly<Record<string, string>> {
  const cache = join(directory, UNPACKED);
  return existsSync(cache) ? { COPILOT_PKG_CACHE_HOME: cache } : {};
}

/** The package for this machine. There is one for each C library, and npm installs the right one. */
function programIn(directory: string): string {
  const names = [process.platform, `${process.platform}musl`].map(
    (each) => `copilot-${each}-${process.arch}`,
  );
  const paths = names.map((name) => join(directory, "node_modules/@github", name, "copilot"));
  return paths.find((path) => existsSync(path)) ?? paths.join();
}
