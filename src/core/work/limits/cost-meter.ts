import type { RunEventBody } from "../../model/runs/events.ts";

/** A higher value is ignored: the agent either uses another unit than dollars, or reports nonsense. */
const COST_MAX_USD = 1_000_000;

/** Measures the cost of a run's agent. Agents report the total cost of their session. */
export class CostMeter {
  #reportedUsd: number;

  /** `reportedUsd`: the cost that a resumed session has reported before. */
  constructor(reportedUsd = 0) {
    this.#reportedUsd = reportedUsd;
  }

  /** The cost since the last reading. */
  read(updates: readonly RunEventBody[]): number {
    return updates.reduce((sum, update) => sum + this.#since(update), 0);
  }

  /** A lower reading than the last one comes from a session that counts from zero. */
  #since(update: RunEventBody): number {
    const costUsd = costIn(update);
    if (costUsd === undefined) {
      return 0;
    }
    const since = costUsd >= this.#reportedUsd ? costUsd - this.#reportedUsd : costUsd;
    this.#reportedUsd = costUsd;
    return since;
  }
}

/** The total cost of a session that this update reports, if it reports a plausible one. */
export function costIn(update: RunEventBody): number | undefined {
  if (update.kind !== "agent.usage" || update.costUsd === undefined) {
    return undefined;
  }
  const { costUsd } = update;
  return costUsd >= 0 && costUsd <= COST_MAX_USD ? costUsd : undefined;
}
