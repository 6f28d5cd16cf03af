import type { Clock } from "../../basics/clock.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { AttemptAbort, RunFailure } from "../lease/attempt-abort.ts";
import { PausableTimer } from "../lease/pausable-timer.ts";
import { budgetExceeded, budgetUsedUp, minutesUsedUp, workLeftMs } from "./budget.ts";
import type { UsageMeter } from "./usage-meter.ts";

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
    const { workedMs } = this;
    return budgetUsedUp(run, { tokens: run.totalTokens, costUsd: run.costUsd ?? 0, workedMs });
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

  get workedMs(): number {
    const { run, workedMs } = this.#deps;
    const allowedMs = workLeftMs(run, workedMs) ?? 0;
    return workedMs + (this.#time === undefined ? 0 : allowedMs - this.#time.leftMs);
  }

  #end(failure: RunFailure): void {
    this.#deps.gateway.shut(failure.message);
    this.#deps.abort.abort({ kind: "failed", failure });
  }
}
