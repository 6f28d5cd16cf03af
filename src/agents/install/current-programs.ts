import type { AgentDefinition, AgentPrograms } from "../agent-definition.ts";
import type { AgentInstaller } from "./agent-installer.ts";
import type { AgentVersions } from "./agent-versions.ts";

/** The programs of the agents in the versions that are in use. They are looked up for each run, so an update needs no restart. */
export class CurrentPrograms implements AgentPrograms {
  readonly #installer: AgentInstaller;
  readonly #versions: AgentVersions;

  constructor(installer: AgentInstaller, versions: AgentVersions) {
    this.#installer = installer;
    this.#versions = versions;
  }

  current(agent: AgentDefinition): Promise<AgentDefinition> {
    return this.#versions.current(agent);
  }

  async isThere(agent: AgentDefinition): Promise<boolean> {
    return this.#installer.isThere(await this.current(agent));
  }

  async provide(
    agent: AgentDefinition,
    report: (text: string) => void,
    signal: AbortSignal,
  ): Promise<string> {
    return this.#installer.provide(await this.current(agent), report, signal);
  }

  /** Ends running installations. */
  close(): Promise<void> {
    return this.#installer.close();
  }
}
