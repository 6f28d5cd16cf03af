import { defined } from "../basics/defined.ts";
import type { Run } from "../model/runs/run.ts";
import { shortfallOf } from "../model/runs/run-outcome.ts";
import { isEnded, isPaused } from "../model/runs/states.ts";
import type { RunCheck } from "../model/threads/notice.ts";
import { needsApproval } from "./approval.ts";

/** What the checks of pull requests say about a run. */
export function checkOf(run: Run, sessionLink: string, findings?: number): RunCheck {
  const { id: runId, permission, state, statusMessage } = run;
  const isOver = isEnded(state);
  const isUnapproved =
    state === "BLOCKED" && permission === undefined && !isPaused(run) && needsApproval(run);
  return defined({
    runId,
    state: isOver || state === "BLOCKED" ? state : "INPROGRESS",
    shortfall: shortfallOf(run),
    message: isOver ? statusMessage?.message : undefined,
    sessionLink,
    isUnapproved: isUnapproved ? true : undefined,
    isPaused: isPaused(run) ? true : undefined,
    findings: state === "SUCCEEDED" ? findings : undefined,
    canRepair: isOver && hasFailures(run) ? true : undefined,
  });
}

export function isSameCheck(one: RunCheck, other: RunCheck): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A run repairs checks by itself while it may. One that has ended beside failed checks does not. */
function hasFailures({ pullRequest, pullRequestStatus: status }: Run): boolean {
  if (status === undefined || status.url !== pullRequest || !["draft", "open"].includes(status.state)) {
    return false;
  }
  const has = (wanted: string) => status.checks.some(({ state }) => state === wanted);
  return has("failed") && !has("running");
}
