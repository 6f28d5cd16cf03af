import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** One agent of the catalogue: all that differs between agents is data, so that a new one is one entry. */
export interface CatalogueAgent {
  readonly name: string;
  readonly displayName: string;
  /** The program that speaks ACP on its standard streams. */
  readonly argv: readonly [string, ...string[]];
  /** What this agent needs in its environment besides PATH, HOME, LANG and TERM. Never one of the platform's keys. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and directories outside the system's own that it must be able to read: its program and its runtime. */
  readonly readable: readonly string[];
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
    argv: [process.execPath, join(sources, "agents", "demo", "main.ts")],
    env: {},
    // package.json says that the sources are modules; without it node guesses, and warns on stderr.
    readable: [sources, join(project, "node_modules"), join(project, "package.json"), process.execPath],
    isDemo: true,
  };
}
