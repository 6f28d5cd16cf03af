import { createHash } from "node:crypto";
import { lstat, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Collected, CollectedFile } from "../core/model/workspaces/workspace.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import { NotCollected, readInside } from "./safe-read.ts";

const DIRECTORY = "artifacts";
const FILE_BYTES_MAX = 10 * 2 ** 20;
/** The limit for new files of one turn. */
const TOTAL_BYTES_MAX = 50 * 2 ** 20;
/** The limit for one run over all its turns. */
const FILES_MAX = 100;
const DEPTH_MAX = 8;
const ENTRIES_MAX = 2_000;
const PATH_LENGTH_MAX = 500;

/**
 * Stores the files that the agent left in `artifacts/`. The content is untrusted, and the agent may still be running.
 */
export async function collectArtifacts(
  workspace: string,
  blobs: Pick<BlobStore, "put">,
  known: ReadonlyMap<string, string>,
): Promise<Collected> {
  const collection = new Collection(await realpath(workspace), blobs, known);
  const found = await collection.find();
  for (const path of found) {
    await collection.take(path);
  }
  return collection;
}

class Collection implements Collected {
  readonly files: CollectedFile[] = [];
  readonly leftOut: { path: string; reason: string }[] = [];
  readonly #root: string;
  readonly #blobs: Pick<BlobStore, "put">;
  readonly #known: ReadonlyMap<string, string>;
  readonly #takenNames = new Set<string>();
  #bytes = 0;
  #entries = 0;

  constructor(root: string, blobs: Pick<BlobStore, "put">, known: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#blobs = blobs;
    this.#known = known;
  }

  /** In the order of their names, so that each turn takes the same files. */
  async find(): Promise<readonly string[]> {
    const found: string[] = [];
    const stat = await lstat(join(this.#root, DIRECTORY)).catch(() => undefined);
    if (stat?.isDirectory()) {
      await this.#walk(DIRECTORY, 1, found);
    } else if (stat !== undefined) {
      this.#leave(DIRECTORY, "is no directory");
    }
    return found.sort();
  }

  async take(path: string): Promise<void> {
    try {
      await this.#take(path, cleanPath(path));
    } catch (error) {
      if (!(error instanceof NotCollected)) {
        throw error;
      }
      this.#leave(path, error.message);
    }
  }

  async #take(path: string, name: string): Promise<void> {
    if (this.#takenNames.has(name)) {
      throw new NotCollected("has the name of another file");
    }
    this.#takenNames.add(name);
    const isNew = !this.#known.has(name);
    if (isNew && this.#known.size + this.#added() >= FILES_MAX) {
      throw new NotCollected(`is one more than ${FILES_MAX}`);
    }
    const bytes = await readInside(this.#root, path, FILE_BYTES_MAX);
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (this.#known.get(name) === hash) {
      return;
    }
    if (this.#bytes + bytes.length > TOTAL_BYTES_MAX) {
      throw new NotCollected("is too much for one turn");
    }
    this.#bytes += bytes.length;
    const blobId = await this.#blobs.put(bytes);
    this.files.push({ path: name, blobId, sizeBytes: bytes.length, hash });
  }

  #added(): number {
    return this.files.filter(({ path }) => !this.#known.has(path)).length;
  }

  async #walk(directory: string, depth: number, found: string[]): Promise<void> {
    // A directory that is unreadable, or was replaced meanwhile, is skipped.
    const entries = await opendir(join(this.#root, directory)).catch(() => undefined);
    if (entries === undefined) {
      return this.#leave(directory, "cannot be read");
    }
    for await (const entry of entries) {
      this.#entries += 1;
      if (this.#entries === ENTRIES_MAX) {
        this.#leave(DIRECTORY, `holds more than ${ENTRIES_MAX} entries`);
      }
      if (this.#entries >= ENTRIES_MAX) {
        return;
      }
      const path = `${directory}/${entry.name}`;
      if (entry.isFile()) {
        found.push(path);
      } else if (!entry.isDirectory()) {
        this.#leave(path, entry.isSymbolicLink() ? "is a link" : "is no file");
      } else if (depth < DEPTH_MAX) {
        await this.#walk(path, depth + 1, found);
      } else {
        this.#leave(path, "lies too deep");
      }
    }
  }

  #leave(path: string, reason: string): void {
    this.leftOut.push({ path: plain(path).slice(0, PATH_LENGTH_MAX), reason });
  }
}

function cleanPath(path: string): string {
  const clean = plain(path);
  if (clean.length > PATH_LENGTH_MAX) {
    throw new NotCollected("has too long a path");
  }
  return clean;
}

/** Without characters that a terminal, a header or a page would interpret. */
function plain(path: string): string {
  return path.normalize("NFC").replace(/[\p{C}\\]/gu, "_");
}
