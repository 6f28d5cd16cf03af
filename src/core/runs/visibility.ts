import { AppError } from "../errors.ts";
import { isOpenTo, ownedOf } from "../people/ownership.ts";
import type { Viewer } from "../people/principal.ts";
import type { Run } from "./run.ts";

/** A guest sees one run; the others what is open to them. To all else it is as if it did not exist. */
export function isVisible(
  run: Pick<Run, "id" | "teamId" | "teamOwned" | "creatorId">,
  viewer: Viewer,
): boolean {
  if (viewer.onlyRunId !== undefined) return run.teamId === viewer.teamId && run.id === viewer.onlyRunId;
  return isOpenTo(ownedOf(run), viewer);
}

/** Never tells whether it is not there or not to be seen. */
export function requireVisible(run: Run | undefined, viewer: Viewer): Run {
  if (run !== undefined && isVisible(run, viewer)) return run;
  throw new AppError("resource_not_found", "There is no such run.");
}
