import type { Stop } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import type { ToolCallUpdate } from "../../model/runs/agent-update.ts";
import { type AttemptAbort, type RunFailure, runFailureOf } from "../lease/attempt-abort.ts";
import type { AttemptDeps, RunSettings } from "../lease/attempt-deps.ts";
import { PausableTimer } from "../lease/pausable-timer.ts";

export interface TurnLimitDeps extends Pick<AttemptDeps, "clock"> {
  readonly settings: Pick<RunSettings, "inactivityMs" | "turnMs">;
  readonly abort: AttemptAbort;
  /** Whether the agent is silent because its output cannot be stored. */
  readonly isHeldBack: () => boolean;
}

/**
 * Limits how long the agent may be silent and how long a turn may take. A tool call that is running, such as a build
 * without output, has the time of the turn. Time during a question to a person does not
 * count. It uses timers only, because a wall clock that jumps must not end a turn.
 */
export class TurnLimits {
  readonly #deps: TurnLimitDeps;
  #turn: PausableTimer | undefined;
  #stopIdle: Stop | undefined;
  /** The number of open questions. */
  #pauses = 0;
  /** The ids of tool calls that are not reported as ended. */
  readonly #toolCalls = new Set<string>();

  constructor(deps: TurnLimitDeps) {
    this.#deps = deps;
  }

  begin(): void {
    const { clock, settings } = this.#deps;
    this.#turn = new PausableTimer(clock, settings.turnMs, () =>
      this.#end(`The turn took longer than ${minutes(settings.turnMs)}, which is the limit here.`),
    );
    this.#pauses = 0;
    this.#toolCalls.clear();
    this.#turn.run();
    this.onSignOfLife();
  }

  /** Whether a turn is running and not waiting for a person. */
  get isRunning(): boolean {
    return this.#turn !== undefined && this.#pauses === 0;
  }

  /** The agent reported something. */
  onSignOfLife(): void {
    if (this.#turn === undefined || this.#pauses > 0) {
      return;
    }
    const { clock, settings } = this.#deps;
    this.#stopIdle?.();
    this.#stopIdle = clock.after(settings.inactivityMs, () => this.#onSilence());
  }

  onToolCall({ status, toolCallId }: ToolCallUpdate): void {
    if (status === "completed" || status === "failed") {
      this.#toolCalls.delete(toolCallId);
    } else if (status !== undefined) {
      this.#toolCalls.add(toolCallId);
    }
  }

  pause(): void {
    this.#pauses += 1;
    this.#turn?.pause();
    this.#stopIdle?.();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) {
      return;
    }
    this.#turn?.run();
    this.onSignOfLife();
  }

  end(): void {
    this.#turn?.pause();
    this.#turn = undefined;
    this.#stopIdle?.();
  }

  #onSilence(): void {
    if (this.#deps.isHeldBack() || this.#toolCalls.size > 0) {
      this.onSignOfLife();
      return;
    }
    this.#end(`The agent reported nothing for ${minutes(this.#deps.settings.inactivityMs)}.`);
  }

  #end(message: string): void {
    this.#deps.abort.abort({ kind: "failed", failure: timedOut(message) });
  }
}

/** The failure of a run that reached a time limit. */
export function timedOut(message: string): RunFailure {
  return runFailureOf(new AppError("resource_unavailable", message, { reason: "infrastructure_timeout" }));
}

export function minutes(ms: number): string {
  const count = Math.round(ms / 6_000) / 10;
  return count === 1 ? "1 minute" : `${count} minutes`;
}
