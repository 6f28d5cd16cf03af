import type { Clock } from "../core/basics/clock.ts";
import { newId } from "../core/basics/ids.ts";
import { BlobGone, type BlobStore } from "../core/ports/blob-store.ts";
import type { Database, Tx } from "./database.ts";

/** The size of the pieces of a read, in bytes. */
export const PIECE_LENGTH = 2 ** 20;
/** Through the client of Prisma, the bytes would be copied as text, several times. */
const PUT = "INSERT INTO blobs (id, bytes) VALUES ($1::uuid, $2::bytea)";
const GET = "SELECT bytes FROM blobs WHERE id = $1::uuid";
const PIECE = "SELECT substring(bytes FROM $2::int FOR $3::int) AS piece FROM blobs WHERE id = $1::uuid";
type Piece = { readonly piece: Uint8Array };

/** Stores blobs as rows, which every worker reaches and which are in the same backup as the rest. */
export function createPrismaBlobStore(database: Database, clock: Clock): BlobStore {
  return {
    async put(blob) {
      const id = newId(clock.now());
      await database.rows({ text: PUT, values: [id, blob] });
      return id;
    },
    async get(id) {
      const [row] = await database.rows<{ readonly bytes: Uint8Array }>({ text: GET, values: [id] });
      return row?.bytes ?? raiseGone();
    },
    async *read(id) {
      let from = 1;
      for (let isMore = true; isMore; from += PIECE_LENGTH) {
        const [row] = await database.rows<Piece>({ text: PIECE, values: [id, from, PIECE_LENGTH] });
        const { piece } = row ?? raiseGone();
        isMore = piece.length === PIECE_LENGTH;
        if (piece.length > 0) {
          yield piece;
        }
      }
    },
    async remove(id) {
      await database.query((client) => client.blob.deleteMany({ where: { id } }));
    },
    prune: () => database.query(prune),
  };
}

export function raiseGone(): never {
  throw new BlobGone();
}

/** Much longer than any change needs between storing a blob and referencing it. */
const UNNAMED_MINUTES = 60;

/** Deletes blobs of a process that died, or of a request that was refused. */
function prune(client: Pick<Tx, "$executeRaw">): Promise<number> {
  return client.$executeRaw`
    DELETE FROM blobs WHERE created_at < now() - ${UNNAMED_MINUTES}::int * interval '1 minute'
      AND NOT EXISTS (SELECT FROM runs WHERE checkpoint = blobs.id::text)
      AND NOT EXISTS (SELECT FROM runs WHERE checkpoint_delta = blobs.id::text)
      AND NOT EXISTS (SELECT FROM runs WHERE work_checkpoint = blobs.id::text)
      AND NOT EXISTS (SELECT FROM run_inputs WHERE blob_id = blobs.id)
      AND NOT EXISTS (SELECT FROM artifacts WHERE blob_id = blobs.id)
      AND NOT EXISTS (SELECT FROM repository_changes WHERE blob_id = blobs.id)`;
}
