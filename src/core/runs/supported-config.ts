import { requireMcpServers } from "../mcp-servers/require-mcp-servers.ts";
import { requireRunRepository } from "../repositories/run-repository.ts";
import type { AgentChoice } from "./new-run.ts";
import type { RunConfig } from "./run.ts";

/** Rejects a stored configuration that would make every later run fail. */
export function requireKeepableConfig(config: RunConfig, member: string, agents: AgentChoice): void {
  requireMcpServers(config, member);
  requireRunRepository(config, member);
  const { budget, harness, model_id } = config;
  // A configuration that does not choose an agent is accepted even if the default agent cannot work at the moment.
  if ([harness, model_id, budget?.max_cost_usd].some((each) => each !== undefined)) {
    agents.choose(config, member);
  }
}
