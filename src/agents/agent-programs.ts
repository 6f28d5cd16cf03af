import type { AgentDefinition } from "./agent-definition.ts";

/** The agents' programs on this machine. */
export interface AgentPrograms {
  isThere(agent: AgentDefinition): Promise<boolean>;
  /**
   * The directory of an agent's package, which is installed now if it is not. Tells how that goes, in sentences. Fails
   * with `environment_setup_failed`. Of an agent without a package, an empty word.
   */
  provide(agent: AgentDefinition, tell: (text: string) => void, signal: AbortSignal): Promise<string>;
}
