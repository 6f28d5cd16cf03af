import { AppError } from "../errors.ts";
import type { RunConfig } from "./run.ts";
import { requireToolServers } from "./tool-servers.ts";

const BUDGET_MEMBERS: ReadonlySet<string> = new Set([
  "max_turns",
  "max_minutes",
  "max_tokens",
  "max_cost_usd",
]);

/** Refuses what a run would be given in vain: one that quietly lacks it would do the wrong work. */
export function requireSupportedConfig(config: RunConfig): void {
  requireToolServers(config);
  const unknown = Object.keys(config.budget ?? {}).find((member) => !BUDGET_MEMBERS.has(member));
  if (unknown === undefined) return;
  const path = `config.budget.${unknown}`;
  throw new AppError("operation_not_supported", `There is no budget of the kind "${unknown}" here.`, {
    remedy: `Use ${Array.from(BUDGET_MEMBERS).join(", ")}.`,
    issues: [{ path, message: "is a limit that nobody would keep" }],
  });
}
