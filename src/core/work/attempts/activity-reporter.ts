import type { Clock, Stop } from "../../basics/clock.ts";
import type { PlanStep, RunActivity } from "../../model/runs/run.ts";
import type { RecordedUpdate } from "../log/event-recorder.ts";

/** Cards show at most one change in this period. */
const PERIOD_MS = 3_000;
/** A card that does not change is shown again after this time, because it says how long the turn has lasted. */
const ELAPSED_MS = 60_000;
const PLAN_STEPS_MAX = 50;
const TEXT_LENGTH_MAX = 200;

type Activity = Pick<RunActivity, "plan" | "step">;

/**
 * Follows the plan of the agent and what it does now. Asks for a card at most once in a period: for the first change at
 * once, and later for the newest. While nothing changes, asks for one a minute.
 */
export class ActivityReporter {
  readonly #clock: Clock;
  readonly #showCard: () => Promise<boolean>;
  #activity: Activity = {};
  #shownMs = Number.NEGATIVE_INFINITY;
  #timer: Stop | undefined;
  #elapsed: Stop | undefined;
  #turn = 0;

  /** `showCard` says whether the run has a card anywhere. */
  constructor(clock: Clock, showCard: () => Promise<boolean>) {
    this.#clock = clock;
    this.#showCard = showCard;
  }

  /** Returns the activity, which must be stored, if it changed. The updates must be free of secrets. */
  onUpdates(updates: readonly RecordedUpdate[]): Activity | undefined {
    const before = JSON.stringify(this.#activity);
    for (const update of updates) {
      this.#activity = { ...this.#activity, ...changeBy(update) };
    }
    if (JSON.stringify(this.#activity) === before) {
      return undefined;
    }
    const waitMs = Math.max(0, this.#shownMs + PERIOD_MS - this.#clock.elapsedMs());
    this.#timer ??= this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      void this.#show();
    });
    return this.#activity;
  }

  async #show(): Promise<void> {
    this.#shownMs = this.#clock.elapsedMs();
    this.#elapsed?.();
    const turn = this.#turn;
    if ((await this.#showCard()) && turn === this.#turn) {
      this.#showLater();
    }
  }

  #showLater(): void {
    this.#elapsed?.();
    this.#elapsed = this.#clock.after(ELAPSED_MS, () => void this.#show());
  }

  /** The next turn has another plan. */
  beginTurn(): void {
    this.stop();
    this.#activity = {};
    this.#showLater();
  }

  stop(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#elapsed?.();
    this.#elapsed = undefined;
    this.#turn += 1;
  }
}

function changeBy(update: RecordedUpdate): Activity {
  switch (update.kind) {
    case "agent.plan":
      return { plan: update.entries.slice(0, PLAN_STEPS_MAX).map(stepOf) };
    case "agent.tool_call":
      return update.title === undefined ? {} : { step: short(update.title) };
    case "workspace.step":
      return { step: short(update.title) };
    default:
      return {};
  }
}

function stepOf({ content, status }: { readonly content: string; readonly status: string }): PlanStep {
  return { text: short(content), status };
}

function short(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}…`;
}
