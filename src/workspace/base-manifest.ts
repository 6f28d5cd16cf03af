import type { Stats } from "node:fs";
import { lstat, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isMissing } from "./file-trees.ts";
import { WRITABLE_FOLDERS } from "./run-directory.ts";
import { clonedRepository } from "./workspace-record.ts";

/** The state of a workspace before any work, from which it can be created again. */
export const workspaceBase = z.object({
  repositories: z.array(clonedRepository),
  setupCommands: z.array(z.string()),
  image: z.string().optional(),
});
export type WorkspaceBase = z.infer<typeof workspaceBase>;

const baseManifest = z.object({
  base: workspaceBase,
  /** By path, relative to the run directory. */
  entries: z.record(z.string(), z.string()),
});
export type BaseManifest = z.infer<typeof baseManifest>;

const FILE = "base.json";
/** A smaller base is stored in the checkpoint instead. */
export const WORTH_BYTES = 4 * 2 ** 20;
const DIRECTORY = "directory ";
const GONE = ["ENOENT", "ENOTDIR"];
/**
 * Files of git that are named after their content. Git changes their times when it meets the same object again, also
 * when Errand takes a snapshot.
 */
const GIT_OBJECT =
  /(^|\/)\.git\/objects\/(pack\/pack-[0-9a-f]{40,64}\.(pack|idx|rev)|[0-9a-f]{2}\/[0-9a-f]{38,62})$/;

/** Records the current content of the run directory; `leftOut` of the workspace cannot be created again. */
export async function writeManifest(
  runPath: string,
  base: WorkspaceBase,
  leftOut: readonly string[],
): Promise<void> {
  const entries: Record<string, string> = {};
  const isLeftOut = (path: string) => leftOut.some((name) => path === join("workspace", name));
  let bytes = 0;
  for await (const { path, stat } of entriesBelow(runPath, WRITABLE_FOLDERS, isLeftOut)) {
    bytes += stat.size;
    entries[path] = identityOf(stat);
  }
  if (bytes < WORTH_BYTES) {
    return;
  }
  const file = join(runPath, FILE);
  await writeFile(`${file}.new`, JSON.stringify({ base, entries }), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export async function findManifest(runPath: string): Promise<BaseManifest | undefined> {
  try {
    return baseManifest.parse(JSON.parse(await readFile(join(runPath, FILE), "utf8")));
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Whether the file is unchanged. */
export function isOfBase({ entries }: BaseManifest, path: string, stat: Stats): boolean {
  return !stat.isDirectory() && isUnchanged(entries[path], path, stat);
}

/**
 * Whether the entry still has its recorded identity. A process cannot set the time of the last status change. Name and
 * size are enough for an object of git.
 */
export function isUnchanged(identity: string | undefined, path: string, stat: Stats): boolean {
  return (
    identity !== undefined &&
    (identity === identityOf(stat) || (isGitObject(path, stat) && sizeIn(identity) === stat.size))
  );
}

function isGitObject(path: string, stat: Stats): boolean {
  return stat.isFile() && GIT_OBJECT.test(path);
}

/** Paths that no longer exist, without those below them. */
export async function listGone(runPath: string, paths: Iterable<string>): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const path of [...paths].sort()) {
    if (gone.some((above) => path.startsWith(`${above}/`))) {
      continue;
    }
    if (await isGone(join(runPath, path))) {
      gone.push(path);
    }
  }
  return gone;
}

/** A path below a directory that cannot be read is not gone. */
function isGone(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error) => error instanceof Error && "code" in error && GONE.includes(String(error.code)),
  );
}

/** Of a directory, only its mode matters: its content has entries of its own. */
export function identityOf(stat: Stats): string {
  return stat.isDirectory()
    ? `${DIRECTORY}${stat.mode & 0o7777}`
    : [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(" ");
}

/** The size of all files. */
export function bytesOf(entries: Readonly<Record<string, string>>): number {
  return Object.values(entries)
    .filter((identity) => !identity.startsWith(DIRECTORY))
    .reduce((bytes, identity) => bytes + sizeIn(identity), 0);
}

function sizeIn(identity: string): number {
  return Number(identity.split(" ")[1]);
}

async function* entriesBelow(
  root: string,
  paths: readonly string[],
  isLeftOut: (path: string) => boolean,
): AsyncGenerator<{ readonly path: string; readonly stat: Stats }> {
  for (const path of paths) {
    if (isLeftOut(path)) {
      continue;
    }
    const stat = await lstat(join(root, path)).catch(() => undefined);
    if (stat === undefined) {
      continue;
    }
    yield { path, stat };
    if (!stat.isDirectory()) {
      continue;
    }
    const names = await readdir(join(root, path)).catch(() => []);
    yield* entriesBelow(
      root,
      names.map((name) => `${path}/${name}`),
      isLeftOut,
    );
  }
}
