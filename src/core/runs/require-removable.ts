import { AppError } from "../basics/errors.ts";
import { isInDebugWindow } from "../model/runs/debug-window.ts";
import type { Run } from "../model/runs/run.ts";
import { isEnded } from "../model/runs/states.ts";

/** A run can be deleted when no worker can write to it. */
export function requireRemovable(run: Run): void {
  const { lease, state } = run;
  if (!isEnded(state)) {
    throw conflict(`The run has not ended: it is ${state}.`, "Cancel it first.");
  }
  if (lease !== undefined && isInDebugWindow(run)) {
    throw conflict(
      "The run keeps its agent and workspace, so that a follow-up can look into its failure.",
      "Cancel it first, and repeat the request when is_sandbox_running is false.",
    );
  }
  if (lease !== undefined) {
    throw conflict(
      "A worker is still stopping the run.",
      "Repeat the request when is_sandbox_running is false.",
    );
  }
}

function conflict(message: string, remedy: string): AppError {
  return new AppError("conflict", message, { retryable: false, remedy });
}
