import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillFiles } from "../core/model/skills/skill.ts";
import { isName, makeDirectory } from "./make-directory.ts";

const PRIVATE = 0o700;

/**
 * Writes the files of a skill into its directory below `root`. Whatever an agent of an earlier run left there is
 * removed, and nothing is written through a link.
 */
export async function writeSkillFiles(root: string, { directory, files }: SkillFiles): Promise<void> {
  const place = join(root, directory);
  await makeDirectories(root, dirname(directory));
  await rm(place, { recursive: true, force: true });
  for (const { bytes, isExecutable, path } of files) {
    if (!path.split("/").every(isName)) {
      throw new Error(`A file of the skill leads out of its folder: ${path}`);
    }
    await mkdir(dirname(join(place, path)), { recursive: true, mode: PRIVATE });
    await writeFile(join(place, path), bytes, { flag: "wx", mode: isExecutable ? 0o700 : 0o600 });
  }
}

async function makeDirectories(root: string, path: string): Promise<void> {
  let directory = root;
  await makeDirectory(directory);
  for (const name of path.split("/")) {
    directory = join(directory, name);
    await makeDirectory(directory);
  }
}
