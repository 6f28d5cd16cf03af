import { AppError } from "../../basics/errors.ts";
import { isOpenTo, ownedOf } from "../people/ownership.ts";
import type { Viewer } from "../people/principal.ts";
import type { Run } from "../runs/run.ts";

/** A guest sees one run; other viewers see what they have access to. Any other run looks as if it did not exist. */
export function isVisible(
  run: Pick<Run, "id" | "teamId" | "teamOwned" | "creatorId">,
  viewer: Viewer,
): boolean {
  if (viewer.onlyRunId !== undefined) {
    return run.teamId === viewer.teamId && run.id === viewer.onlyRunId;
  }
  return isOpenTo(ownedOf(run), viewer);
}

/** The error does not tell whether the run is missing or not visible. */
export function requireVisible(run: Run | undefined, viewer: Viewer): Run {
  if (run !== undefined && isVisible(run, viewer)) {
    return run;
  }
  throw new AppError("resource_not_found", "There is no such run.");
}
