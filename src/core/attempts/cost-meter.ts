import type { AgentSession, AgentUpdate } from "../ports/agent-runner.ts";
import type { Run } from "../runs/run.ts";

/** Beyond this an agent counts in something else than dollars, or lies. */
const COST_MAX_USD = 1_000_000;

/** What a run's agent costs: agents tell what their session has cost in all. */
export class CostMeter {
  #toldUsd: number;

  /** `toldUsd`: what is known already of a session that is taken up again. */
  constructor(toldUsd = 0) {
    this.#toldUsd = toldUsd;
  }

  /** The cost since the readings before. */
  read(updates: readonly AgentUpdate[]): number {
    return updates.reduce((sum, update) => sum + this.#since(update), 0);
  }

  /** A reading that is lower than the one before comes from a session that counts anew. */
  #since(update: AgentUpdate): number {
    if (update.kind !== "agent.usage" || update.costUsd === undefined) return 0;
    const { costUsd } = update;
    if (!(costUsd >= 0 && costUsd <= COST_MAX_USD)) return 0;
    const since = costUsd >= this.#toldUsd ? costUsd - this.#toldUsd : costUsd;
    this.#toldUsd = costUsd;
    return since;
  }
}

/** For a session that has just begun, or was taken up again from the run itself or from the one `before` it. */
export function costMeterFor({ resumed }: AgentSession, run: Run, before: Run | undefined): CostMeter {
  return new CostMeter(resumed ? (run.agentSession === undefined ? before : run)?.costUsd : 0);
}
