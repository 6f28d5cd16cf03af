import type { TokenUsage, TurnEnd } from "../../model/runs/agent-update.ts";
import type { RunEventBody } from "../../model/runs/events.ts";
import type { Gateway, ModelUsage } from "../../ports/gateway.ts";
import type { RunEdit } from "../../runs/run-edit.ts";

export interface Usage {
  readonly tokens: number;
  readonly costUsd: number;
}

/** More than any turn uses, and small enough that sums stay exact. */
const TOKENS_MAX = 1_000_000_000_000;
const NOTHING: Usage = { tokens: 0, costUsd: 0 };
const NO_CALLS: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 };

/**
 * Measures what an attempt uses. Agent and gateway report the same model calls, and either may miss some: the larger
 * value counts, and the two are never added. Usage that was taken from the meter is not returned again, so that it
 * can be stored step by step.
 */
export class UsageMeter {
  #gateway: Pick<Gateway, "traffic"> | undefined;
  #cost = new CostMeter();
  #reported = NOTHING;
  #stored = NOTHING;
  #turnBegan = NO_CALLS;

  /** The total since the attempt began. */
  get used(): Usage {
    const { costUsd, totalTokens } = this.#models;
    return {
      tokens: Math.max(totalTokens, this.#reported.tokens),
      costUsd: Math.max(costUsd, this.#reported.costUsd),
    };
  }

  attach(gateway: Pick<Gateway, "traffic">): void {
    this.#gateway = gateway;
  }

  /** The session was resumed and has already reported this cost. */
  resume(reportedUsd: number): void {
    this.#cost = new CostMeter(reportedUsd);
  }

  beginTurn(): void {
    this.#turnBegan = this.#models;
  }

  onUpdates(updates: readonly RunEventBody[]): void {
    this.#reported = { ...this.#reported, costUsd: this.#reported.costUsd + this.#cost.read(updates) };
  }

  /** Ends a turn with the usage that the agent reports, otherwise with what the gateway measured. */
  endTurn(end: TurnEnd): TurnEnd {
    this.#reported = { ...this.#reported, tokens: this.#reported.tokens + tokensOf(end) };
    if (end.usage !== undefined) {
      return end;
    }
    const usage = since(this.#turnBegan, this.#models);
    return usage.totalTokens === 0 ? end : { ...end, usage };
  }

  /** Returns the usage since the last call. */
  take(): Usage {
    const { costUsd, tokens } = this.used;
    const taken = { tokens: tokens - this.#stored.tokens, costUsd: costUsd - this.#stored.costUsd };
    this.#stored = { tokens, costUsd };
    return taken;
  }

  get #models(): ModelUsage {
    return this.#gateway?.traffic.models ?? NO_CALLS;
  }
}

export function decideUsage(edit: RunEdit, { costUsd, tokens }: Usage): void {
  if (tokens > 0) {
    edit.set({ totalTokens: edit.run.totalTokens + tokens });
  }
  if (costUsd > 0) {
    edit.set({ costUsd: (edit.run.costUsd ?? 0) + costUsd });
  }
}

/** An agent may report anything. A value that is not a count is ignored. */
function tokensOf({ usage }: TurnEnd): number {
  const tokens = usage?.totalTokens ?? 0;
  return Number.isInteger(tokens) && tokens > 0 && tokens <= TOKENS_MAX ? tokens : 0;
}

function since(before: ModelUsage, now: ModelUsage): TokenUsage {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    totalTokens: now.totalTokens - before.totalTokens,
  };
}

/** A higher value is ignored: the agent either uses another unit than dollars, or reports nonsense. */
const COST_MAX_USD = 1_000_000;

/** Measures the cost of a run's agent. Agents report the total cost of their session. */
class CostMeter {
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
