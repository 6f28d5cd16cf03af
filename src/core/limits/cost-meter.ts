import type { RunEventBody } from "../runs/events.ts";

/** Beyond this an agent counts in something else than dollars, or lies. */
const COST_MAX_USD = 1_000_000;

/** What a run's agent costs: agents tell what their session has cost in all. */
export class CostMeter {
  #reportedUsd: number;

  /** `toldUsd`: what a session that is taken up again has told already. */
  constructor(toldUsd = 0) {
    this.#reportedUsd = toldUsd;
  }

  /** The cost since the readings before. */
  read(updates: readonly RunEventBody[]): number {
    return updates.reduce((sum, update) => sum + this.#since(update), 0);
  }

  /** A reading that is lower than the one before comes from a session that counts anew. */
  #since(update: RunEventBody): number {
    const costUsd = costIn(update);
    if (costUsd === undefined) return 0;
    const since = costUsd >= this.#reportedUsd ? costUsd - this.#reportedUsd : costUsd;
    this.#reportedUsd = costUsd;
    return since;
  }
}

/** What a session has cost in all by this update, where it says so and it can be. */
export function costIn(update: RunEventBody): number | undefined {
  if (update.kind !== "agent.usage" || update.costUsd === undefined) return undefined;
  const { costUsd } = update;
  return costUsd >= 0 && costUsd <= COST_MAX_USD ? costUsd : undefined;
}
