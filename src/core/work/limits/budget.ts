import type { Clock } from "../../basics/clock.ts";
import type { Budget, Run } from "../../model/runs/run.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { AttemptAbort, RunFailure } from "../lease/attempt-abort.ts";
import { PausableTimer } from "../lease/pausable-timer.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** What a run has used so far. */
interface Spent {
  readonly tokens: number;
  readonly costUsd: number;
  readonly workedMs: number;
}

const MINUTE_MS = 60_000;

/** The failure of a run whose budget has nothing left for another turn. */
export function budgetUsedUp(
  { config, costUsd = 0, totalTokens, turn, turnOpen }: Run,
  workedMs: number,
): RunFailure | undefined {
  const { max_turns: turnsMax = Infinity } = config.budget ?? {};
  const turns = turnOpen ? turn - 1 : turn;
  if (turns >= turnsMax) {
    return usedUp(`${turns} of ${turnsMax} turns`);
  }
  return overdrawn(config.budget, { tokens: totalTokens, costUsd, workedMs }, (used, max) => used >= max);
}

/** The failure of a run that has used more than its budget. */
function budgetExceeded({ config }: Pick<Run, "config">, spent: Spent): RunFailure | undefined {
  return overdrawn(config.budget, spent, (used, max) => used > max);
}

/** How long the agent may still work, in milliseconds. Undefined: there is no limit. */
function workLeftMs({ config }: Pick<Run, "config">, workedMs: number): number | undefined {
  const minutes = config.budget?.max_minutes;
  return minutes === undefined ? undefined : Math.max(0, minutes * MINUTE_MS - workedMs);
}

function minutesUsedUp({ config }: Pick<Run, "config">): RunFailure {
  const { max_minutes: minutes = 0 } = config.budget ?? {};
  return usedUp(`${minutes} of ${minutes} minutes of work`);
}

function overdrawn(
  budget: Budget = {},
  { costUsd, tokens, workedMs }: Spent,
  isOver: (used: number, max: number) => boolean,
): RunFailure | undefined {
  const { max_cost_usd: costMax, max_minutes: minutesMax, max_tokens: tokensMax } = budget;
  if (tokensMax !== undefined && isOver(tokens, tokensMax)) {
    return usedUp(`${tokens} of ${tokensMax} tokens`);
  }
  if (costMax !== undefined && isOver(costUsd, costMax)) {
    return usedUp(`${costUsd.toFixed(4)} of ${costMax} US dollars`);
  }
  if (minutesMax !== undefined && isOver(workedMs, minutesMax * MINUTE_MS)) {
    return usedUp(`${(workedMs / MINUTE_MS).toFixed(1)} of ${minutesMax} minutes of work`);
  }
  return undefined;
}

function usedUp(what: string): RunFailure {
  const message = `The budget of this run is used up: ${what}.`;
  return { message, errorCode: "budget_exceeded", retryable: false };
}

export interface BudgetWatchDeps {
  readonly clock: Clock;
  readonly gateway: Pick<Gateway, "shut">;
  readonly meter: Pick<UsageMeter, "used">;
  readonly abort: AttemptAbort;
  /** The run when the attempt began. */
  readonly run: Run;
  readonly workedMs: number;
}

/** Aborts the attempt when the run exceeds its budget. No model call starts after that. */
export class BudgetWatch {
  readonly #deps: BudgetWatchDeps;
  readonly #time: PausableTimer | undefined;

  constructor(deps: BudgetWatchDeps) {
    this.#deps = deps;
    const leftMs = workLeftMs(deps.run, deps.workedMs);
    if (leftMs === undefined) {
      return;
    }
    this.#time = new PausableTimer(deps.clock, leftMs, () => this.#end(minutesUsedUp(deps.run)));
  }

  /** Starts the timer: the agent is working. */
  run(): void {
    this.#time?.run();
  }

  pause(): void {
    this.#time?.pause();
  }

  /** The failure of a run whose budget has nothing left for another turn. */
  exhausted(run: Run): RunFailure | undefined {
    return budgetUsedUp(run, this.#workedMs);
  }

  check(): void {
    const { meter, run } = this.#deps;
    const tokens = run.totalTokens + meter.used.tokens;
    const costUsd = (run.costUsd ?? 0) + meter.used.costUsd;
    const failure = budgetExceeded(run, { tokens, costUsd, workedMs: 0 });
    if (failure !== undefined) {
      this.#end(failure);
    }
  }

  get #workedMs(): number {
    const { run, workedMs } = this.#deps;
    const allowedMs = workLeftMs(run, workedMs) ?? 0;
    return workedMs + (this.#time === undefined ? 0 : allowedMs - this.#time.leftMs);
  }

  #end(failure: RunFailure): void {
    this.#deps.gateway.shut(failure.message);
    this.#deps.abort.abort({ kind: "failed", failure });
  }
}
