import { chmod, lstat, readdir, rename, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeTree } from "./file-trees.ts";

/**
 * Moves the content of one directory over that of another. Both may come from an agent that no longer runs: links in
 * them are moved and replaced, never followed.
 */
export async function mergeTree(from: string, into: string): Promise<void> {
  for (const name of await readdir(from)) {
    const [source, target] = [join(from, name), join(into, name)];
    const isDirectory = (await lstat(source)).isDirectory();
    if (isDirectory && (await isRealDirectory(target))) {
      await mergeDirectory(source, target);
      continue;
    }
    await removeTree(target);
    await rename(source, target);
  }
}

async function mergeDirectory(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  for (const place of [source, target]) {
    await chmod(place, 0o700);
  }
  await mergeTree(source, target);
  await rmdir(source);
  await chmod(target, mode & 0o7777);
}

/** Removes a path below the root, unless a link leads there. */
export async function removeBelow(root: string, path: string): Promise<void> {
  const parts = path.split("/");
  if (path === "" || parts.some((part) => ["", ".", ".."].includes(part))) {
    return;
  }
  for (let depth = 1; depth < parts.length; depth += 1) {
    if (!(await isRealDirectory(join(root, ...parts.slice(0, depth))))) {
      return;
    }
  }
  const place = join(root, ...parts);
  const above = await stat(dirname(place));
  await chmod(dirname(place), 0o700);
  await removeTree(place);
  await chmod(dirname(place), above.mode & 0o7777);
}

async function isRealDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
