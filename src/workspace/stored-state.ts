import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { readFile, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { bytesOf, findManifest, identityOf, isUnchanged, listGone, WORTH_BYTES } from "./base-manifest.ts";
import { isMissing } from "./file-trees.ts";
import { isTooDeep, OpenDirectory } from "./open-directory.ts";
import { WRITABLE_FOLDERS } from "./run-directory.ts";

const FILE = "stored.json";
/** File systems count time in steps. A file that changes twice within one step may keep its identity. */
const TIME_STEP_MS = 50;

/** What a run directory contained when its checkpoint was stored. */
const storedState = z.object({
  checkpoint: z.string(),
  /** The identity of each entry by its path, relative to the run directory. */
  entries: z.record(z.string(), z.string()),
});
export type StoredState = z.infer<typeof storedState>;

/** What changed since a checkpoint was stored. */
export interface Changes {
  /** New and changed entries, without the directories above them. */
  readonly changed: readonly string[];
  /** Paths that no longer exist, without those below them. */
  readonly gone: readonly string[];
  /** Equal for equal changes. Undefined while a file has changed just now. */
  readonly fingerprint: string | undefined;
}

/**
 * Whether packing all files takes long enough to be noticed. `state`: the files as they were stored last. Without any record
 * of them, that is unknown: false.
 */
export async function isKnownLarge(runPath: string, state: StoredState | undefined): Promise<boolean> {
  const known = state ?? (await findManifest(runPath));
  return known !== undefined && bytesOf(known.entries) >= WORTH_BYTES;
}

/** Collects the entries of a checkpoint while it is packed. */
export class StoredEntries {
  readonly #entries: Record<string, string> = {};

  readonly add = (path: string, stat: Stats): void => {
    if (!isRecent(stat)) {
      this.#entries[path] = identityOf(stat);
    }
  };

  write(runPath: string, checkpoint: string): Promise<void> {
    return write(runPath, { checkpoint, entries: this.#entries });
  }
}

/** Records the files of a checkpoint that was just restored, while no process works on them. */
export async function writeStoredState(runPath: string, checkpoint: string): Promise<void> {
  const entries: Record<string, string> = {};
  for await (const { path, stat } of statsBelow(runPath)) {
    entries[path] = identityOf(stat);
  }
  await write(runPath, { checkpoint, entries });
}

export async function findStoredState(runPath: string): Promise<StoredState | undefined> {
  try {
    return storedState.parse(JSON.parse(await readFile(join(runPath, FILE), "utf8")));
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Reads names and times, and no content. */
export async function findChanges(
  runPath: string,
  { entries }: StoredState,
  signal?: AbortSignal,
): Promise<Changes> {
  const missing = new Set(Object.keys(entries));
  const changed: string[] = [];
  const hash = createHash("sha256");
  let hasRecent = false;
  for await (const { path, stat } of statsBelow(runPath)) {
    signal?.throwIfAborted();
    missing.delete(path);
    if (!isUnchanged(entries[path], path, stat)) {
      changed.push(path);
      hash.update(`${path}\0${identityOf(stat)}\0`);
      hasRecent ||= isRecent(stat);
    }
  }
  const gone = await listGone(runPath, missing);
  hash.update(gone.join("\0"));
  return { changed, gone, fingerprint: hasRecent ? undefined : hash.digest("hex") };
}

async function write(runPath: string, state: StoredState): Promise<void> {
  const file = join(runPath, FILE);
  await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function isRecent(stat: Stats): boolean {
  return !stat.isDirectory() && stat.ctimeMs > Date.now() - TIME_STEP_MS;
}

/** Untrusted processes may change the directories meanwhile. What cannot be read is left out. */
async function* statsBelow(runPath: string): AsyncGenerator<{ readonly path: string; readonly stat: Stats }> {
  const root = await realpath(runPath);
  const paths: string[] = [...WRITABLE_FOLDERS];
  for (const above of paths) {
    const opened = await OpenDirectory.open(root, above);
    if (opened === undefined || "unstorable" in opened) {
      continue;
    }
    await using directory = opened;
    const listed = await directory.list();
    const stats = await Promise.all(listed.map((entry) => directory.stat(entry)));
    for (const [index, stat] of stats.entries()) {
      const path = join(above, listed[index]?.name ?? "");
      if (stat?.isDirectory() && !isTooDeep(path)) {
        paths.push(path);
      }
      if (stat !== undefined) {
        yield { path, stat };
      }
    }
  }
}
