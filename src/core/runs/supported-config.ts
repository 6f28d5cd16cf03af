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

/** Refuses what a run would be given in vain: one that quietly lacks it would do the wrong work. `member` is its name. */
export function requireSupportedConfig(config: RunConfig, member = "config"): void {
  requireMcpServers(config, member);
  const unknown = Object.keys(config.budget ?? {}).find((member) => !BUDGET_MEMBERS.has(member));
  if (unknown === undefined) return;
  const path = `${member}.budget.${unknown}`;
  throw new AppError("operation_not_supported", `There is no budget of the kind "${unknown}" here.`, {
    remedy: `Use ${Array.from(BUDGET_MEMBERS).join(", ")}.`,
    issues: [{ path, message: "is a limit that nobody would keep" }],
  });
}

/** Refuses what is kept for later runs and would have them refused, where they configure nothing themselves. */
export function requireKeepableConfig(config: RunConfig, member: string, agents: AgentChoice): void {
  requireSupportedConfig(config, member);
  const { budget, harness, model_id } = config;
  // One that does not touch the choice is no worse for a default agent that cannot work.
  if ([harness, model_id, budget?.max_cost_usd].some((each) => each !== undefined))
    agents.choose(config, member);
}
