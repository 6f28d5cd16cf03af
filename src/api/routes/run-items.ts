import type { Run } from "../../core/runs/run.ts";
import { findResult } from "../../core/runs/run-result.ts";
import { waitingFor } from "../../core/runs/waiting-for.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type RunItem, type RunItemContext, runItemOf } from "../schemas/run-item.ts";

type RunItemDeps = Pick<ApiDeps, "capacity" | "clock" | "principals" | "runs" | "storage">;
type ContextOf = (run: Run) => RunItemContext;

/** Converts the runs of a list to the format of the API, without the results, which can be long. */
export async function runItemsOf(deps: RunItemDeps, runs: readonly Run[]): Promise<RunItem[]> {
  const contextOf = await contextsOf(deps, runs);
  return runs.map((run) => runItemOf(run, contextOf(run)));
}

export async function runItem(deps: RunItemDeps, run: Run): Promise<RunItem> {
  const [contextOf, result] = await Promise.all([
    contextsOf(deps, [run]),
    findResult(deps.storage.runs, run),
  ]);
  return runItemOf(run, { ...contextOf(run), result });
}

/** Reads the principals, the artifacts and the capacity for all runs at once. */
async function contextsOf(
  { capacity, clock, principals, runs, storage: { files } }: RunItemDeps,
  shown: readonly Run[],
): Promise<ContextOf> {
  const ids = shown.flatMap(({ creatorId, executorId = creatorId }) => [creatorId, executorId]);
  const people = await principals.getMany(new Set(ids));
  const idsWithArtifacts = shown
    .filter(({ artifactTypes }) => artifactTypes !== undefined)
    .map(({ id }) => id);
  const artifactsByRun = Map.groupBy(await files.artifactsOf(idsWithArtifacts), ({ runId }) => runId);
  const isQueued = shown.some(({ state }) => state === "QUEUED");
  const availabilityOf = isQueued ? await capacity.look() : () => undefined;
  const now = clock.now();
  return (run) => ({
    creator: people.get(run.creatorId),
    executor: people.get(run.executorId ?? run.creatorId),
    waitingFor: waitingFor(run, availabilityOf(run.config.worker_host), now),
    sessionLink: runs.sessionLink(run),
    artifacts: artifactsByRun.get(run.id) ?? [],
    now,
  });
}
