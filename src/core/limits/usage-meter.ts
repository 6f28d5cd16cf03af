import type { TurnEnd } from "../agents/agent-runner.ts";
import type { Gateway, ModelUsage } from "../agents/gateway.ts";
import type { RunEventBody } from "../runs/events.ts";
import type { RunEdit } from "../runs/run-edit.ts";
import { CostMeter } from "./cost-meter.ts";

export interface Usage {
  readonly tokens: number;
  readonly costUsd: number;
}

type TurnUsage = NonNullable<TurnEnd["usage"]>;

/** More than any turn takes, and few enough that their sum stays exact. */
const TOKENS_MAX = 1_000_000_000_000;
const NOTHING: Usage = { tokens: 0, costUsd: 0 };
const NO_CALLS: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 };

/**
 * What an attempt takes. Agent and gateway both tell of the same calls, each perhaps not of all: the larger counts, and
 * they are never added. What was taken from the meter is not given again, so that it can be stored bit by bit.
 */
export class UsageMeter {
  #gateway: Pick<Gateway, "traffic"> | undefined;
  #cost = new CostMeter();
  #told = NOTHING;
  #stored = NOTHING;
  #turnBegan = NO_CALLS;

  /** In all since the attempt began. */
  get used(): Usage {
    const { costUsd, totalTokens } = this.#models;
    return {
      tokens: Math.max(totalTokens, this.#told.tokens),
      costUsd: Math.max(costUsd, this.#told.costUsd),
    };
  }

  attach(gateway: Pick<Gateway, "traffic">): void {
    this.#gateway = gateway;
  }

  /** The agent's session goes on with one that has told of so much already. */
  goOn(toldUsd: number): void {
    this.#cost = new CostMeter(toldUsd);
  }

  beginTurn(): void {
    this.#turnBegan = this.#models;
  }

  hear(updates: readonly RunEventBody[]): void {
    this.#told = { ...this.#told, costUsd: this.#told.costUsd + this.#cost.read(updates) };
  }

  /** The end of a turn, with what the agent says it took, or else the gateway. */
  endTurn(end: TurnEnd): TurnEnd {
    this.#told = { ...this.#told, tokens: this.#told.tokens + tokensOf(end) };
    if (end.usage !== undefined) return end;
    const usage = since(this.#turnBegan, this.#models);
    return usage.totalTokens === 0 ? end : { ...end, usage };
  }

  /** What was used and not taken from here before. */
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
  if (tokens > 0) edit.set({ totalTokens: edit.run.totalTokens + tokens });
  if (costUsd > 0) edit.set({ costUsd: (edit.run.costUsd ?? 0) + costUsd });
}

/** An agent may tell anything; what is no count is none. */
function tokensOf({ usage }: TurnEnd): number {
  const tokens = usage?.totalTokens ?? 0;
  return Number.isInteger(tokens) && tokens > 0 && tokens <= TOKENS_MAX ? tokens : 0;
}

function since(before: ModelUsage, now: ModelUsage): TurnUsage {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    totalTokens: now.totalTokens - before.totalTokens,
  };
}
