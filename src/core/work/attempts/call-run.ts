import type { Log } from "../../basics/log.ts";
import type { Run } from "../../model/runs/run.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { Queue } from "../../ports/queue.ts";
import type { WaitingRun } from "../../ports/stores/claim-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { runJob } from "../../runs/run-job.ts";

export interface CallDeps {
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  readonly storage: Pick<Storage, "claims">;
  readonly queue: Pick<Queue, "ensure">;
  readonly pubsub: Pick<PubSub, "publish">;
  readonly log: Log;
}

/** Gives a job to a waiting run that has none. */
export async function callRun({ pubsub, queue }: CallDeps, run: WaitingRun): Promise<void> {
  await queue.ensure({ ...runJob(run), since: run.queuedAt });
  pubsub.publish([CHANNELS.jobs("run")]);
}

/** Gives a job to the next waiting run of a team whose quota may have left it without one. */
export async function callNextOfTeam(deps: CallDeps, { teamId }: Pick<Run, "teamId">): Promise<void> {
  try {
    const next = await deps.storage.claims.firstWaiting(teamId, deps.host);
    if (next !== undefined) {
      await callRun(deps, next);
    }
  } catch (error) {
    // The maintenance job finds the run a few seconds later.
    deps.log.warn("run.not_called", { teamId, error });
  }
}
