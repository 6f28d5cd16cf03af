import { defined } from "../basics/defined.ts";
import type { Run } from "../model/runs/run.ts";
import type { Job } from "../ports/queue.ts";
import type { RunChange } from "../ports/stores/run-change.ts";

/** The job of a queued run, for any worker or for workers of the name that the run asks for. */
export function runJob({ id, config: { worker_host: host } }: Pick<Run, "id" | "config">): Job {
  return defined({ kind: "run", key: id, host });
}

/** A queued run without a lease gets a job, whatever queued it or released the lease. */
export function startJobs(
  run: Pick<Run, "config" | "id" | "state">,
  { afterMs, events, lease }: Pick<RunChange, "events" | "lease"> & { readonly afterMs: number },
): readonly Job[] {
  const isChanged = events.some(({ body }) => body.kind === "run.state" || body.kind === "run.created");
  const isClaimable = run.state === "QUEUED" && (isChanged || lease === null);
  return isClaimable ? [{ ...runJob(run), ...defined({ afterMs: afterMs > 0 ? afterMs : undefined }) }] : [];
}

/** One job for each thread that gets notices. */
export function deliverJobs(notices: RunChange["notices"]): readonly Job[] {
  const threadIds = new Set(notices.map(({ threadId }) => threadId));
  return Array.from(threadIds, (key) => ({ kind: "deliver", key }) as const);
}

/** Whether a worker may claim the run. */
export function isFor(
  { config: { worker_host: wanted } }: Pick<Run, "config">,
  host: string | undefined,
): boolean {
  return wanted === undefined || wanted === host;
}
