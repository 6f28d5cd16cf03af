import type { Clock } from "../ports/clock.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { Run } from "../runs/run.ts";
import type { Breaking, RunFailure } from "./breaking.ts";
import { budgetExceeded, budgetGone, minutesUsedUp, workLeftMs } from "./budget.ts";
import { PausableTimer } from "./pausable-timer.ts";
import type { UsageMeter } from "./usage-meter.ts";

export interface BudgetWatchParts {
  readonly clock: Clock;
  readonly gateway: Pick<Gateway, "shut">;
  readonly meter: Pick<UsageMeter, "used">;
  readonly breaking: Breaking;
  /** As it was when the attempt began. */
  readonly run: Run;
  readonly workedMs: number;
}

/** Breaks the work off when more is taken than the run's budget has. No model call is begun after that. */
export class BudgetWatch {
  readonly #parts: BudgetWatchParts;
  readonly #time: PausableTimer | undefined;

  constructor(parts: BudgetWatchParts) {
    this.#parts = parts;
    const leftMs = workLeftMs(parts.run, parts.workedMs);
    if (leftMs === undefined) return;
    this.#time = new PausableTimer(parts.clock, leftMs, () => this.#end(minutesUsedUp(parts.run)));
  }

  /** The agent is at work. */
  run(): void {
    this.#time?.run();
  }

  pause(): void {
    this.#time?.pause();
  }

  /** Whether nothing is left for one more turn of the run as it stands. */
  gone(run: Run): RunFailure | undefined {
    const { workedMs } = this;
    return budgetGone(run, { tokens: run.totalTokens, costUsd: run.costUsd ?? 0, workedMs });
  }

  check(): void {
    const { meter, run } = this.#parts;
    const tokens = run.totalTokens + meter.used.tokens;
    const costUsd = (run.costUsd ?? 0) + meter.used.costUsd;
    const failure = budgetExceeded(run, { tokens, costUsd, workedMs: 0 });
    if (failure !== undefined) this.#end(failure);
  }

  get workedMs(): number {
    const { run, workedMs } = this.#parts;
    const allowedMs = workLeftMs(run, workedMs) ?? 0;
    return workedMs + (this.#time === undefined ? 0 : allowedMs - this.#time.leftMs);
  }

  #end(failure: RunFailure): void {
    this.#parts.gateway.shut(failure.message);
    this.#parts.breaking.break({ kind: "failed", failure });
  }
}
