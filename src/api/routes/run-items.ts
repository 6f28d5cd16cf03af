import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type RunItem, runItemOf } from "../schemas/run-item.ts";

type RunItemDeps = Pick<ApiDeps, "clock" | "principals" | "runs" | "storage">;

/** Converts runs to the format of the API. */
export async function runItemsOf(deps: RunItemDeps, runs: readonly Run[]): Promise<RunItem[]> {
  const show = await itemMaker(deps, runs);
  return runs.map(show);
}

export async function runItem(deps: RunItemDeps, run: Run): Promise<RunItem> {
  const show = await itemMaker(deps, [run]);
  return show(run);
}

/** Reads the creators and the artifacts of all runs at once. */
async function itemMaker(
  { runs, clock, principals, storage: { files } }: Pick<ApiDeps, "clock" | "principals" | "runs" | "storage">,
  shown: readonly Run[],
): Promise<(run: Run) => RunItem> {
  const creators = await principals.getMany(new Set(shown.map(({ creatorId }) => creatorId)));
  const idsWithArtifacts = shown
    .filter(({ artifactTypes }) => artifactTypes !== undefined)
    .map(({ id }) => id);
  const artifactsByRun = Map.groupBy(await files.artifactsOf(idsWithArtifacts), ({ runId }) => runId);
  const now = clock.now();
  return (run) =>
    runItemOf(run, {
      creator: creators.get(run.creatorId),
      sessionLink: runs.sessionLink(run),
      artifacts: artifactsByRun.get(run.id) ?? [],
      now,
    });
}
