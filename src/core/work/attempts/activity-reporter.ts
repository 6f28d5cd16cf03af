import type { Clock, Stop } from "../../basics/clock.ts";
import type { PlanStep, RunActivity } from "../../model/runs/run.ts";
import type { RecordedUpdate } from "../log/event-recorder.ts";

/** Cards show at most one change in this period. */
const PERIOD_MS = 3_000;
const PLAN_STEPS_MAX = 50;
const TEXT_LENGTH_MAX = 200;

type Activity = Pick<RunActivity, "plan" | "step">;

/**
 * Follows the plan of the agent and what it does now. Asks for a card at most once in a period: for the first change at
 * once, and later for the newest.
 */
export class ActivityReporter {
  readonly #clock: Clock;
  readonly #showCard: () => void;
  #activity: Activity = {};
  #shownMs = Number.NEGATIVE_INFINITY;
  #timer: Stop | undefined;

  constructor(clock: Clock, showCard: () => void) {
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
      this.#shownMs = this.#clock.elapsedMs();
      this.#showCard();
    });
    return this.#activity;
  }

  /** The next turn has another plan. */
  beginTurn(): void {
    this.stop();
    this.#activity = {};
  }

  stop(): void {
    this.#timer?.();
    this.#timer = undefined;
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
