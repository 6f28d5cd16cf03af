import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseRunId, type RunId } from "../core/basics/ids.ts";
import { removeTree } from "./file-trees.ts";

/**
 * Removes this worker's files of runs that were deleted, and returns how many there were. A run is stored before its
 * directory is made, so a directory without a run belongs to a deleted one.
 */
export async function removeDeletedRuns(
  dataDir: string,
  exists: (runId: RunId) => Promise<boolean>,
): Promise<number> {
  const runs = join(dataDir, "runs");
  let count = 0;
  for (const name of await readdir(runs).catch(() => [])) {
    const runId = parseRunId(name.replace(/^\.old-/, ""));
    if (runId !== undefined && !(await exists(runId))) {
      await removeTree(join(runs, name));
      count += 1;
    }
  }
  return count;
}
