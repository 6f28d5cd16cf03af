import { GIBIBYTE, MEBIBYTE } from "../../basics/byte-units.ts";
import type { Clock, Stop } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import { type AttemptAbort, type RunFailure, runFailureOf } from "../lease/attempt-abort.ts";
import type { AttemptDeps, RunSettings } from "../lease/attempt-deps.ts";
import { PausableTimer } from "../lease/pausable-timer.ts";
import { type RecordedUpdate, storedLength } from "../log/event-recorder.ts";
import { minutes, timedOut } from "./turn-limits.ts";

const LOOK_MS = 3_000;
/** Measuring a workspace of many files takes at most about this part of the time. */
const REST_PER_LOOK = 4;

type WorkspaceLimitDeps = Pick<AttemptDeps, "clock" | "log" | "run" | "settings" | "workspaces">;

/** Aborts the attempt when the workspace becomes too large. The returned function ends the watch. */
export function limitWorkspace(deps: WorkspaceLimitDeps, abort: AttemptAbort): Stop {
  const { clock, log, run, settings, workspaces } = deps;
  let isLooking = false;
  let restsUntilMs = 0;
  const look = async () => {
    const startedMs = clock.elapsedMs();
    if (isLooking || startedMs < restsUntilMs || abort.reason !== undefined) {
      return;
    }
    isLooking = true;
    try {
      if ((await workspaces.size(run.id)) > settings.workspaceGib * GIBIBYTE) {
        abort.abort({ kind: "failed", failure: runFailureOf(tooLarge(settings.workspaceGib)) });
      }
    } catch (error) {
      log.warn("workspace.not_measured", { runId: run.id, error });
    } finally {
      isLooking = false;
      restsUntilMs = clock.elapsedMs() + (clock.elapsedMs() - startedMs) * REST_PER_LOOK;
    }
  };
  return clock.every(LOOK_MS, () => void look());
}

function tooLarge(limitGib: number): AppError {
  const message = `The workspace has more than ${limitGib} GiB, the largest size that is allowed here.`;
  return new AppError("budget_exceeded", message, {
    remedy:
      "Start a run that writes less or deletes what it does not need, or ask the operator to raise ERRAND_MAX_WORKSPACE_GIB.",
  });
}

/**
 * Limits what an attempt may write to the log of its run. What exceeds the limit is not stored, nor anything after
 * it.
 */
export class LogLimit {
  readonly #logMib: number;
  readonly #abort: AttemptAbort;
  #remaining: number;

  constructor({ logMib }: Pick<RunSettings, "logMib">, abort: AttemptAbort) {
    this.#logMib = logMib;
    this.#abort = abort;
    this.#remaining = logMib * MEBIBYTE;
  }

  /** Returns the updates that may be stored, and aborts the attempt if some may not. */
  acceptable(updates: readonly RecordedUpdate[]): readonly RecordedUpdate[] {
    const acceptable = updates.filter((update) => {
      this.#remaining -= storedLength(update);
      return this.#remaining >= 0;
    });
    if (acceptable.length < updates.length) {
      this.#abort.abort({ kind: "failed", failure: this.#failure() });
    }
    return acceptable;
  }

  #failure(): RunFailure {
    const message = `The run's log is full: one attempt may write ${this.#logMib} MiB to it.`;
    return { message, errorCode: "budget_exceeded", retryable: false };
  }
}

/** Aborts the attempt when it takes too long in total. The caller runs the timer. */
export function attemptTimer(
  clock: Clock,
  { attemptMs }: Pick<RunSettings, "attemptMs">,
  abort: AttemptAbort,
): PausableTimer {
  const message = `The run was worked on for ${minutes(attemptMs)} without a break, which is the limit here.`;
  return new PausableTimer(clock, attemptMs, () =>
    abort.abort({ kind: "failed", failure: timedOut(message) }),
  );
}
