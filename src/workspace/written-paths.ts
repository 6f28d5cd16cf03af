import type { Dirent } from "node:fs";
import {
  chmod,
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join, relative } from "node:path";
import { isTooDeep } from "./open-directory.ts";

export interface Written {
  /** Files and links that contain the path where they were made, relative to the directory. */
  readonly paths: readonly string[];
  /** The size of all files. */
  readonly bytes: number;
}

const CHUNK_BYTES = 2 ** 20;
/** A larger file is neither a script nor a setting. */
const REWRITE_BYTES_MAX = 256 * 2 ** 20;
const NO_TEXT = 0;

/** The files below `root` that contain `place`, the directory's own path. No process may be working in it. */
export async function findWritten(root: string, place: string): Promise<Written> {
  const paths: string[] = [];
  let bytes = 0;
  for await (const entry of entriesBelow(root)) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink() && (await readlink(path)).includes(place)) {
      paths.push(relative(root, path));
    }
    if (!entry.isFile()) {
      continue;
    }
    const stat = await lstat(path);
    bytes += stat.size;
    if (stat.size >= place.length && (await holds(path, place))) {
      paths.push(relative(root, path));
    }
  }
  return { paths, bytes };
}

/**
 * Replaces the path `from` by `to` in files. Compiled programs store the length of a text, so if the length changes,
 * only text files are rewritten.
 */
export async function rewrite(
  root: string,
  paths: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  for (const path of paths) {
    await rewriteOne(join(root, path), from, to);
  }
}

/** Does not follow links, and skips directories that we may not read and what lies too deep to be stored. */
async function* entriesBelow(root: string): AsyncGenerator<Dirent> {
  const directories = [root];
  for (const directory of directories) {
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      const place = join(directory, entry.name);
      if (isTooDeep(relative(root, place))) {
        continue;
      }
      yield entry;
      if (entry.isDirectory()) {
        directories.push(place);
      }
    }
  }
}

async function rewriteOne(path: string, from: string, to: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isSymbolicLink()) {
    const target = await readlink(path);
    await rm(path);
    await symlink(target.replaceAll(from, to), path);
  }
  if (!stat?.isFile() || stat.size > REWRITE_BYTES_MAX) {
    return;
  }
  const before = await readFile(path);
  if (from.length !== to.length && before.includes(NO_TEXT)) {
    return;
  }
  // In this encoding each byte is one character, whatever it means.
  const after = before.toString("latin1").replaceAll(latin1(from), latin1(to));
  await chmod(path, stat.mode | 0o600);
  await writeFile(path, after, "latin1");
  await chmod(path, stat.mode);
  // Keeps the time, because files made from it must not look outdated.
  await utimes(path, stat.atime, stat.mtime);
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

async function holds(path: string, text: string): Promise<boolean> {
  const wanted = Buffer.from(text);
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) {
    return false;
  }
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES + wanted.length);
    for (let kept = 0; ; ) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES);
      if (bytesRead === 0) {
        return false;
      }
      const end = kept + bytesRead;
      if (buffer.subarray(0, end).includes(wanted)) {
        return true;
      }
      // A match may begin in this piece and end in the next.
      kept = Math.min(end, wanted.length - 1);
      buffer.copyWithin(0, end - kept, end);
    }
  } finally {
    await file.close();
  }
}
