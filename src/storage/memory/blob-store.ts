import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { BlobStore } from "../../core/ports/blob-store.ts";
import type { Clock } from "../../core/ports/clock.ts";

/** The twin of the real one. It knows no rows, so it takes every blob for one that is named. */
export function createMemoryBlobStore(clock: Clock): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  return {
    async put(blob) {
      const id = newId(clock.now());
      blobs.set(id, Uint8Array.from(blob));
      return id;
    },
    async get(id) {
      const blob = blobs.get(id);
      if (blob === undefined)
        throw new AppError("internal_error", "A stored file is gone.", { retryable: false });
      return blob;
    },
    async remove(id) {
      blobs.delete(id);
    },
    prune: async () => 0,
  };
}
