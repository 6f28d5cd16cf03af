import { GIBIBYTE } from "../../basics/byte-units.ts";
import type { Stop } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import { type AttemptAbort, runFailureOf } from "../lease/attempt-abort.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

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
