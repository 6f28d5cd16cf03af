import type { AgentPhases } from "../../model/runs/events.ts";
import {
  type Durations,
  START_BOUNDS,
  type StartDurations,
  type StartPhase,
} from "../../model/workers/start-durations.ts";

const NONE: Durations = { within: START_BOUNDS.map(() => 0), count: 0, sumSeconds: 0 };

/** Counts how long the starts of this worker take, for its heartbeat. */
export class StartTimes {
  readonly #durations = new Map<StartPhase, Durations>();

  get durations(): StartDurations {
    return Object.fromEntries(this.#durations);
  }

  add(phase: StartPhase, ms: number): void {
    const { count, sumSeconds, within } = this.#durations.get(phase) ?? NONE;
    const seconds = Math.max(0, ms) / 1_000;
    this.#durations.set(phase, {
      within: within.map((counted, index) => counted + Number(seconds <= (START_BOUNDS[index] ?? 0))),
      count: count + 1,
      sumSeconds: sumSeconds + seconds,
    });
  }

  addAgent({ initializeMs, processMs, sessionMs }: AgentPhases): void {
    this.add("process", processMs);
    this.add("initialize", initializeMs);
    this.add("session", sessionMs);
  }
}
