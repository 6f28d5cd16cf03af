import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

const MAX_LISTED = 200;
const MAX_DEPTH = 4;
const NOT_LISTED: ReadonlySet<string> = new Set([".git", "node_modules"]);
const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The file is not in the directory, or is reached by a link that leads out of it. */
export class OutsideError extends Error {
  override readonly name = "OutsideError";

  constructor(file: string) {
    super(`${file} is outside the workspace, so I left it alone.`);
  }
}

/**
 * The paths of the files in the workspace, sorted. The number is limited, because a checkout may have a hundred
 * thousand.
 */
export async function listFiles(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  await collect(directory, directory, 0, found);
  return found.sort();
}

async function collect(root: string, directory: string, depth: number, found: string[]): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries) {
    if (found.length >= MAX_LISTED) {
      return;
    }
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) {
      found.push(relative(root, path));
    } else if (depth < MAX_DEPTH && !NOT_LISTED.has(entry.name)) {
      await collect(root, path, depth + 1, found);
    }
  }
}

/** The text of a file in the directory, or undefined when there is none. Fails with `OutsideError`. */
export async function findText(directory: string, file: string): Promise<string | undefined> {
  const handle = await openInside(directory, file, O_RDONLY).catch(undefinedIfMissing);
  try {
    return await handle?.readFile("utf8");
  } finally {
    await handle?.close();
  }
}

/** Writes a file in the directory and returns its path. Fails with `OutsideError`. */
export async function writeText(directory: string, file: string, text: string): Promise<string> {
  const path = await pathInside(directory, file);
  await mkdir(dirname(path), { recursive: true });
  const handle = await openInside(directory, file, O_WRONLY | O_CREAT);
  try {
    // Only now, because opening must not yet change a file that turns out to be outside.
    await handle.truncate(0);
    await handle.writeFile(text);
    return path;
  } finally {
    await handle.close();
  }
}

/**
 * Opens a plain file of the directory. Nothing that the directory contains can lead out of it: the real path is
 * opened without following a link, and the opened file is used only if it is still the one at that path. A file with
 * a second name is refused, because the other name may be outside.
 */
async function openInside(directory: string, file: string, flags: number): Promise<FileHandle> {
  const path = await pathInside(directory, file);
  const handle = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o666).catch((error: unknown) => {
    throw hasCode(error, "ELOOP", "ENXIO", "EISDIR", "ERR_ACCESS_DENIED") ? new OutsideError(file) : error;
  });
  // A path that is gone by now is as bad as another file at it.
  const isInside = await isFileAt(path, handle).catch(() => false);
  if (isInside) {
    return handle;
  }
  await handle.close();
  throw new OutsideError(file);
}

async function isFileAt(path: string, handle: FileHandle): Promise<boolean> {
  const [opened, real, current] = await Promise.all([handle.stat(), realpath(path), lstat(path)]);
  const isSame = real === path && current.dev === opened.dev && current.ino === opened.ino;
  return isSame && opened.isFile() && opened.nlink === 1;
}

/** The real path of a file in the directory, which need not exist. Fails with `OutsideError`. */
async function pathInside(directory: string, file: string): Promise<string> {
  const root = await realpath(directory);
  const path = resolve(root, file);
  const real = isBelow(root, path) ? await realpathOfExisting(path) : undefined;
  if (real === undefined || !isBelow(root, real)) {
    throw new OutsideError(file);
  }
  return real;
}

function isBelow(root: string, path: string): boolean {
  return path.startsWith(root === sep ? root : root + sep);
}

/**
 * The real path of the longest existing part, with the rest appended. Undefined: a link on the way leads nowhere, so
 * writing through it would create its target.
 */
async function realpathOfExisting(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) {
      throw error;
    }
  }
  if ((await lstat(path).catch(undefinedIfMissing)) !== undefined) {
    return undefined;
  }
  const parent = await realpathOfExisting(dirname(path));
  return parent === undefined ? undefined : join(parent, path.slice(dirname(path).length));
}

function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, "ENOENT", "ENOTDIR")) {
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
