import type { Run } from "./run.ts";

/** Whether a failed run still has its agent and files, or has just got the follow-up that continues there. */
export function isInDebugWindow({ debugUntil, state }: Pick<Run, "debugUntil" | "state">): boolean {
  return debugUntil !== undefined && (state === "FAILED" || state === "QUEUED");
}
