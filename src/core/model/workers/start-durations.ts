/** The parts of a start, in their order: from the choice of the run to the first text of the agent. */
export const START_PHASES = ["claim", "workspace", "process", "initialize", "session", "first_word"] as const;
export type StartPhase = (typeof START_PHASES)[number];

/** The upper bounds by which durations are counted, in seconds. Longer ones are only in `count`. */
export const START_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

/** How long one part of the starts of a worker took. */
export interface Durations {
  /** For each of `START_BOUNDS`, how many took at most so long. */
  readonly within: readonly number[];
  readonly count: number;
  readonly sumSeconds: number;
}

/** Of all starts since the start of the worker. A part that never happened is absent. */
export type StartDurations = { readonly [Phase in StartPhase]?: Durations };
