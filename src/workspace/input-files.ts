import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { InitialContents } from "../core/workspaces/workspace.ts";
import { isName, makeDirectory } from "./make-directory.ts";

const PRIVATE = 0o700;

/**
 * Writes the input files of a run into its new workspace, each at `<directory>/<name>`. An agent of an earlier run
 * may have left something there: a link is removed and never followed, and so is a file of the same name.
 */
export async function writeInputFiles(workspace: string, files: InitialContents["files"]): Promise<void> {
  if (files.length === 0) {
    return;
  }
  await mkdir(workspace, { recursive: true, mode: PRIVATE });
  const real = join(await realpath(dirname(workspace)), basename(workspace));
  if ((await realpath(workspace)) !== real) {
    throw new Error("The workspace is a link.");
  }
  for (const { path, bytes } of files) {
    const [directory = "", name = "", ...rest] = path.split("/");
    if (rest.length > 0 || !isName(directory) || !isName(name)) {
      throw new Error(`A given file has no place of its own: ${path}`);
    }
    await makeDirectory(join(workspace, directory));
    await rm(join(workspace, directory, name), { recursive: true, force: true });
    await writeFile(join(workspace, directory, name), bytes, { flag: "wx", mode: 0o600 });
  }
}
