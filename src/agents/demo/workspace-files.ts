import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

const MAX_LISTED = 200;
const MAX_DEPTH = 4;
const NOT_LISTED: ReadonlySet<string> = new Set([".git", "node_modules"]);

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

/** The text of the file, or undefined when there is none. */
export async function findText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The absolute path of a file in the workspace; undefined when the name or a symbolic link leads outside. */
export async function pathInside(directory: string, file: string): Promise<string | undefined> {
  const root = await realpath(directory);
  const path = resolve(root, file);
  return isBelow(root, path) && isBelow(root, await realpathOfExisting(path)) ? path : undefined;
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep);
}

/** The real path of the longest existing part, with the rest appended. */
async function realpathOfExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) {
      throw error;
    }
    return join(await realpathOfExisting(dirname(path)), path.slice(dirname(path).length));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
