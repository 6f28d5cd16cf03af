import { createHash } from "node:crypto";
import type { Clock } from "../../../../src/core/basics/clock.ts";
import { newId } from "../../../../src/core/basics/ids.ts";
import type { BlobStore } from "../../../../src/core/ports/blob-store.ts";
import { PIECE_LENGTH, raiseGone } from "../../../../src/storage/blob-store.ts";

/** An in-memory fake of the blob store. It has no rows, so it treats every blob as referenced. */
export function createInMemoryBlobStore(clock: Clock): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  const find = (id: string): Uint8Array => blobs.get(id) ?? raiseGone();
  return {
    async put(blob) {
      const id = newId(clock.now());
      blobs.set(id, Uint8Array.from(blob));
      return id;
    },
    get: async (id) => find(id),
    sha256: async (id) => createHash("sha256").update(find(id)).digest("hex"),
    async *read(id) {
      for (let from = 0; from < find(id).length; from += PIECE_LENGTH) {
        yield find(id).subarray(from, from + PIECE_LENGTH);
      }
    },
    async remove(id) {
      blobs.delete(id);
    },
    prune: async () => 0,
  };
}
