import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentModel } from "../core/ports/agent-catalogue.ts";

/** How an agent is started. */
export interface AgentProgram {
  readonly name: string;
  /** The program that speaks ACP on its standard streams. */
  readonly argv: readonly [string, ...string[]];
  /** What this agent needs in its environment besides PATH, HOME, LANG and TERM. Never one of the platform's keys. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and directories outside the system's own that it must be able to read: its program and its runtime. */
  readonly readable: readonly string[];
}

/** One agent of the catalogue: all that differs between agents is data, so that a new one is one entry. */
export interface CatalogueAgent extends AgentProgram {
  readonly displayName: string;
  /** For whoever chooses among them, in one sentence. */
  readonly description: string;
  readonly version: string;
  /** As SPDX names it. */
  readonly license: string;
  /** The first is what it takes when none is named. */
  readonly models: readonly [AgentModel, ...AgentModel[]];
  /** The built-in agent, which needs no model and may run without a sandbox. */
  readonly isDemo: boolean;
}

export type AgentCatalogue = ReadonlyMap<string, CatalogueAgent>;

export function createCatalogue(): AgentCatalogue {
  return new Map([demoAgent()].map((agent) => [agent.name, agent]));
}

function demoAgent(): CatalogueAgent {
  const sources = dirname(dirname(fileURLToPath(import.meta.url)));
  const project = dirname(sources);
  return {
    name: "demo",
    displayName: "Demo agent (no model)",
    description: "Looks at the files and writes a report, without a model, a key or the network.",
    version: "1",
    license: "Apache-2.0",
    models: [
      {
        id: "demo",
        displayName: "No model",
        provider: "Errand",
        seesImages: true,
        description:
          "What the demo agent does is written in its program. It takes any other name too, and heeds none.",
      },
    ],
    argv: [process.execPath, join(sources, "agents", "demo", "main.ts")],
    env: {},
    // package.json says that the sources are modules; without it node guesses, and warns on stderr.
    readable: [sources, join(project, "node_modules"), join(project, "package.json"), process.execPath],
    isDemo: true,
  };
}
