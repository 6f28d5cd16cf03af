import type { AgentDefinition } from "./agent-definition.ts";

/** The programs of the agents on this machine. */
export interface AgentPrograms {
  isThere(agent: AgentDefinition): Promise<boolean>;
  /**
   * The directory of an agent's package, which is installed first if needed; empty for an agent without a package.
   * Reports its progress in sentences. Fails with `environment_setup_failed`.
   */
  provide(agent: AgentDefinition, report: (text: string) => void, signal: AbortSignal): Promise<string>;
}
