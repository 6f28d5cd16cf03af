import { BlobGone, type BlobStore } from "../core/ports/blob-store.ts";
import type { ObjectStore } from "../core/ports/object-store.ts";
import type { Database } from "./database.ts";
import { removeObjects } from "./object-blob-store.ts";

export interface BlobMove {
  readonly database: Database;
  /** Reads the blobs of `from`. */
  readonly blobs: Pick<BlobStore, "get">;
  /** Undefined: the database. */
  readonly from: ObjectStore | undefined;
  readonly to: ObjectStore | undefined;
}

const LISTED_AT_ONCE = 100;

/**
 * Moves the bytes of all blobs of one store to the other, and yields how many were moved so far. It can be stopped at any
 * time and repeated, while the service runs: each blob is where its row says, and its former bytes go with the same
 * statement, or after it.
 */
export async function* moveBlobs(move: BlobMove): AsyncIterable<number> {
  const { database, from } = move;
  const isThere = from === undefined ? "location IS NULL" : "location = $2::text";
  const text = `SELECT id FROM blobs WHERE ${isThere} AND id > $1::uuid ORDER BY id LIMIT ${LISTED_AT_ONCE}`;
  const location = from === undefined ? [] : [from.location];
  let moved = 0;
  for (let last: string | undefined = "00000000-0000-0000-0000-000000000000"; last !== undefined; ) {
    const values: readonly string[] = [last, ...location];
    const rows: readonly { readonly id: string }[] = await database.rows({ text, values });
    for (const { id } of rows) {
      moved += (await moveBlob(move, id)) ? 1 : 0;
    }
    last = rows.at(-1)?.id;
    yield moved;
  }
  while (from !== undefined && (await removeObjects(database, from)) > 0) {}
}

async function moveBlob({ blobs, database, from, to }: BlobMove, id: string): Promise<boolean> {
  try {
    const bytes = await blobs.get(id);
    return await (to === undefined
      ? moveToRow(database, { id, bytes, from: from?.location })
      : moveToObject(database, { id, bytes, from: from?.location, to }));
  } catch (error) {
    // Its run was deleted meanwhile.
    if (error instanceof BlobGone) {
      return false;
    }
    throw error;
  }
}

interface Moved {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** The location that the row must still have. */
  readonly from: string | undefined;
}

async function moveToRow(database: Database, { bytes, from, id }: Moved): Promise<boolean> {
  const text = `UPDATE blobs SET bytes = $3::bytea, location = NULL
    WHERE id = $1::uuid AND location = $2::text RETURNING id`;
  return (await database.rows({ text, values: [id, from, bytes] })).length > 0;
}

async function moveToObject(
  database: Database,
  { bytes, from, id, to }: Moved & { readonly to: ObjectStore },
): Promise<boolean> {
  // The object of an earlier move to this store may still wait for its removal.
  const taken = "DELETE FROM blob_removals WHERE id = $1::uuid AND location = $2::text";
  await database.rows({ text: taken, values: [id, to.location] });
  await to.put(id, bytes);
  const text = `UPDATE blobs SET location = $3::text, bytes = NULL, size_bytes = $4::bigint,
      sha256 = coalesce(sha256, encode(sha256(bytes), 'hex'))
    WHERE id = $1::uuid AND location IS NOT DISTINCT FROM $2::text RETURNING id`;
  const values = [id, from ?? null, to.location, bytes.length];
  if ((await database.rows({ text, values })).length > 0) {
    return true;
  }
  const unneeded = `INSERT INTO blob_removals (id, location) SELECT $1::uuid, $2::text
    WHERE NOT EXISTS (SELECT FROM blobs WHERE id = $1::uuid AND location = $2::text) ON CONFLICT DO NOTHING`;
  await database.rows({ text: unneeded, values: [id, to.location] });
  return false;
}
