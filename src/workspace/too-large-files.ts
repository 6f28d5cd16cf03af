import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { identityOf } from "./base-manifest.ts";

/** Forgets the oldest beyond this number. */
const KNOWN_MAX = 100;

/** A file of an archive that became too large. */
export interface PackedFile {
  readonly identity: string;
  /** What the archive grew by. */
  readonly packedBytes: number;
  readonly bytes: number;
}

/**
 * Per directory, the files of the last archive that became too large. While those that made it so are unchanged, an archive with
 * them is too large again, and packing it only to throw it away takes seconds.
 */
export class TooLargeFiles {
  readonly #known = new Map<string, ReadonlyMap<string, PackedFile>>();

  /** `files`: by path, relative to the directory. */
  set(directory: string, files: ReadonlyMap<string, PackedFile>): void {
    this.#known.delete(directory);
    this.#known.set(directory, files);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > KNOWN_MAX) {
      this.#known.delete(oldest);
    }
  }

  /** How large an archive is at least, if it contains those of the files that are unchanged and that `isPacked` accepts. */
  async measure(
    directory: string,
    isPacked: (path: string, stat: Stats) => boolean,
  ): Promise<Omit<PackedFile, "identity">> {
    let packedBytes = 0;
    let bytes = 0;
    for (const [path, file] of this.#known.get(directory) ?? []) {
      const stat = await lstat(join(directory, path)).catch(() => undefined);
      if (stat !== undefined && identityOf(stat) === file.identity && isPacked(path, stat)) {
        packedBytes += file.packedBytes;
        bytes += file.bytes;
      }
    }
    return { packedBytes, bytes };
  }
}
