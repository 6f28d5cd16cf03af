import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InitialContents } from "../core/workspaces/workspace.ts";
import { isName, makeDirectory } from "./make-directory.ts";

const PRIVATE = 0o700;

/**
 * Writes the files of a skill into a new workspace, at `directory` below it. Whatever an agent of an earlier run left
 * there is removed, and nothing is written through a link.
 */
export async function writeSkillFiles(workspace: string, skill: InitialContents["skill"]): Promise<void> {
  if (skill === undefined) {
    return;
  }
  const place = join(workspace, skill.directory);
  await makeDirectory(workspace);
  await makeDirectory(dirname(place));
  await rm(place, { recursive: true, force: true });
  for (const { bytes, isExecutable, path } of skill.files) {
    if (!path.split("/").every(isName)) {
      throw new Error(`A file of the skill leads out of its folder: ${path}`);
    }
    await mkdir(dirname(join(place, path)), { recursive: true, mode: PRIVATE });
    await writeFile(join(place, path), bytes, { flag: "wx", mode: isExecutable ? 0o700 : 0o600 });
  }
}
