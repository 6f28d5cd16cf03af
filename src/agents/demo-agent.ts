import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentDefinition } from "./agent-definition.ts";

const SOURCES = dirname(dirname(fileURLToPath(import.meta.url)));
const PROJECT = dirname(SOURCES);
const PACKAGES = join(PROJECT, "node_modules");

/** Its program is the folder `demo`, which no file imports. */
export const demoAgent: AgentDefinition = {
  name: "demo",
  displayName: "Demo agent (no model)",
  description: "Looks at the files and writes a report, without a model, a key or the network.",
  version: "1",
  license: "Apache-2.0",
  providers: [],
  models: [
    {
      id: "demo",
      displayName: "No model",
      provider: "Errand",
      seesImages: true,
      description: "The demo agent follows a fixed program. It accepts any other model name and ignores it.",
    },
  ],
  countsUsage: "by turn",
  acceptsMcpServers: false,
  isDemo: true,
  launch: () => ({
    argv: [process.execPath, join(SOURCES, "agents", "demo", "main.ts")],
    // Like main.js. Sandboxes may only read this directory, because Errand executes what is stored there.
    env: { NODE_COMPILE_CACHE: join(PACKAGES, ".cache", "errand") },
    // package.json declares that the sources are modules. Without it Node guesses and warns on stderr.
    readable: [SOURCES, PACKAGES, join(PROJECT, "package.json"), process.execPath],
  }),
};
