import { AppError } from "../errors.ts";
import { requireMcpServers } from "./mcp-servers.ts";
import type { AgentChoice } from "./new-run.ts";
import type { RunConfig } from "./run.ts";

const BUDGET_MEMBERS: ReadonlySet<string> = new Set([
  "max_turns",
  "max_minutes",
  "max_tokens",
  "max_cost_usd",
]);

/**
 * Rejects configuration that would have no effect, because a run without it would do the wrong work. `member` is the
 * caller's name for the configuration.
 */
export function requireSupportedConfig(config: RunConfig, member = "config"): void {
  requireMcpServers(config, member);
  const unknown = Object.keys(config.budget ?? {}).find((member) => !BUDGET_MEMBERS.has(member));
  if (unknown === undefined) {
    return;
  }
  const path = `${member}.budget.${unknown}`;
  throw new AppError("operation_not_supported", `The budget "${unknown}" is unknown.`, {
    remedy: `Use ${Array.from(BUDGET_MEMBERS).join(", ")}.`,
    issues: [{ path, message: "is an unknown limit" }],
  });
}

/** Rejects a stored configuration that would make every later run fail. */
export function requireKeepableConfig(config: RunConfig, member: string, agents: AgentChoice): void {
  requireSupportedConfig(config, member);
  const { budget, harness, model_id } = config;
  // A configuration that does not choose an agent is accepted even if the default agent cannot work at the moment.
  if ([harness, model_id, budget?.max_cost_usd].some((each) => each !== undefined)) {
    agents.choose(config, member);
  }
}
