import { join } from "node:path";
import { HOME_INSIDE, WORKSPACE_INSIDE } from "../core/model/workspaces/workspace.ts";
import { WRITABLE_FOLDERS } from "./run-directory.ts";
import { findWritten, rewrite } from "./written-paths.ts";

const INSIDE = { workspace: WORKSPACE_INSIDE, home: HOME_INSIDE } as const;

/**
 * Rewrites the files below `root` that contain the run directory `from` where they were made, for the place `to`. An
 * empty `to` is a sandbox that shows the folders at paths of their own. Files from such a sandbox, with an empty
 * `from`, stay as they are: "/workspace" may mean anything in them. Can be repeated.
 */
export async function relocate(root: string, from: string, to: string): Promise<void> {
  if (from === "" || from === to) {
    return;
  }
  for (const folder of WRITABLE_FOLDERS) {
    const place = join(root, folder);
    const { paths } = await findWritten(place, from);
    for (const name of to === "" ? WRITABLE_FOLDERS : []) {
      await rewrite(place, paths, join(from, name), INSIDE[name]);
    }
    if (to !== "") {
      await rewrite(place, paths, from, to);
    }
  }
}
