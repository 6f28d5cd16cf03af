import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { BlobStore } from "../workspace/blob-store.ts";
import type { Database } from "./database.ts";

/** Blobs as rows: reached by every worker, and in the same backup as the rest. */
export function createPrismaBlobStore(database: Database, clock: Clock): BlobStore {
  return {
    async put(blob) {
      const id = newId(clock.now());
      await database.query((client) => client.blob.create({ data: { id, bytes: Uint8Array.from(blob) } }));
      return id;
    },
    async get(id) {
      const row = await database.query((client) => client.blob.findUnique({ where: { id } }));
      if (row === null)
        throw new AppError("internal_error", "A stored workspace is gone.", { retryable: false });
      return row.bytes;
    },
    async remove(id) {
      await database.query((client) => client.blob.deleteMany({ where: { id } }));
    },
  };
}
