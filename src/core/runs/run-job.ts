import type { Run } from "../model/runs/run.ts";
import type { Job } from "../ports/queue.ts";
import type { RunChange } from "../ports/stores/run-change.ts";

/** Whether a change makes a worker able to claim the run, whatever queued the run or released its lease. */
export function isMadeClaimable(
  { state }: Pick<Run, "state">,
  { events, lease }: Pick<RunChange, "events" | "lease">,
): boolean {
  const isChanged = events.some(({ body }) => body.kind === "run.state" || body.kind === "run.created");
  return state === "QUEUED" && (isChanged || lease === null);
}

/** One job for each thread that gets notices. */
export function deliverJobs(notices: RunChange["notices"]): readonly Job[] {
  const threadIds = new Set(notices.map(({ threadId }) => threadId));
  return Array.from(threadIds, (key) => ({ kind: "deliver", key }) as const);
}
