import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../core/basics/errors.ts";
import type { SkillFiles } from "../core/model/skills/skill.ts";
import type { InitialContents } from "../core/ports/workspace-provider.ts";
import { isName, makeDirectory } from "./file-trees.ts";

const PRIVATE = 0o700;
const OURS = 0o600;
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Writes the input files of a run into its new workspace, each at `<directory>/<name>`. An agent of an earlier run
 * may have left something there: a link is removed and never followed, and so is a file of the same name.
 */
export async function writeInputFiles(workspace: string, files: InitialContents["files"]): Promise<void> {
  await mkdir(workspace, { recursive: true, mode: PRIVATE });
  const real = join(await realpath(dirname(workspace)), basename(workspace));
  if ((await realpath(workspace)) !== real) {
    throw new Error("The workspace is a link.");
  }
  for (const { path, bytes } of files) {
    const { directory, name } = placeOf(path);
    await makeDirectory(join(workspace, directory));
    await rm(join(workspace, directory, name), { recursive: true, force: true });
    await writeFile(join(workspace, directory, name), bytes, { flag: "wx", mode: OURS });
  }
}

/**
 * Adds files to a workspace in which an agent may be working. Each directory on the way is held open, so that no link that
 * the agent makes meanwhile leads out of the workspace. A file that is there already stays: the agent may have changed it.
 */
export async function addInputFiles(workspace: string, files: InitialContents["files"]): Promise<void> {
  try {
    const root = await openDirectory(workspace);
    try {
      for (const { path, bytes } of files) {
        await addFile(heldPath(root, workspace), placeOf(path), bytes);
      }
    } finally {
      await root.close();
    }
  } catch (cause) {
    const message = "The files of a message could not be put into the run's workspace.";
    throw new AppError("environment_setup_failed", message, { cause });
  }
}

interface Place {
  readonly directory: string;
  readonly name: string;
}

async function addFile(root: string, { directory, name }: Place, bytes: Uint8Array): Promise<void> {
  const place = join(root, directory);
  await mkdir(place, { mode: PRIVATE }).catch(unlessThere);
  const folder = await openDirectory(place);
  try {
    const file = join(heldPath(folder, place), name);
    if ((await lstat(file).catch(() => undefined)) !== undefined) {
      return;
    }
    // The name appears with the whole content, also if the worker is killed meanwhile.
    const part = `${file}.part`;
    await rm(part, { force: true });
    await writeFile(part, bytes, { flag: "wx", mode: OURS });
    await rename(part, file);
  } finally {
    await folder.close();
  }
}

function openDirectory(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** On Linux this path leads to the open directory, whatever is at its path by now. */
function heldPath({ fd }: FileHandle, path: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
    throw error;
  }
}

function placeOf(path: string): Place {
  const [directory = "", name = "", ...rest] = path.split("/");
  if (rest.length > 0 || !isName(directory) || !isName(name)) {
    throw new Error(`An input file has no path of its own: ${path}`);
  }
  return { directory, name };
}

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
