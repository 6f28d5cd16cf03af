import { AppError } from "../errors.ts";
import type { Viewer } from "../people/principal.ts";
import type { Run } from "./run.ts";

/**
 * A run of the team is everybody's in the team; another is its creator's and the team's administrators'. To all
 * others it is as if it did not exist.
 */
export function isVisible(
  run: Pick<Run, "id" | "teamId" | "teamOwned" | "creatorId">,
  viewer: Viewer,
): boolean {
  if (run.teamId !== viewer.teamId) return false;
  if (viewer.onlyRunId !== undefined) return run.id === viewer.onlyRunId;
  return run.teamOwned || run.creatorId === viewer.id || viewer.administrator;
}

/** Never tells whether it is not there or not to be seen. */
export function requireVisible(run: Run | undefined, viewer: Viewer): Run {
  if (run !== undefined && isVisible(run, viewer)) return run;
  throw new AppError("resource_not_found", "There is no such run.");
}
