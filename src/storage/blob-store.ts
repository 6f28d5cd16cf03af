import { createHash } from "node:crypto";
import type { Clock } from "../core/basics/clock.ts";
import { newId } from "../core/basics/ids.ts";
import { BlobGone, type BlobStore } from "../core/ports/blob-store.ts";
import type { Database, Tx } from "./database.ts";

/** The size of the pieces of a read, in bytes. */
export const PIECE_LENGTH = 2 ** 20;
/** The size of the pieces of a write, in bytes. */
const SENT_PIECE_LENGTH = 2 ** 16;
const PUT = "COPY blobs (id, size_bytes, bytes, sha256) FROM STDIN (FORMAT binary)";
const PIECE = "SELECT substring(bytes FROM $2::int FOR $3::int) AS piece FROM blobs WHERE id = $1::uuid";
const LENGTH = "SELECT octet_length(bytes) AS length FROM blobs WHERE id = $1::uuid";
/** Processes of the previous release store no hash. */
const SHA256 =
  "SELECT coalesce(sha256, encode(sha256(bytes), 'hex')) AS sha256 FROM blobs WHERE id = $1::uuid";
type Piece = { readonly piece: Uint8Array };

/** Stores blobs as rows, which every worker reaches and which are in the same backup as the rest. */
export function createPrismaBlobStore(database: Database, clock: Clock): BlobStore {
  async function* read(id: string): AsyncIterable<Uint8Array> {
    let from = 1;
    for (let isMore = true; isMore; from += PIECE_LENGTH) {
      const [row] = await database.rows<Piece>({ text: PIECE, values: [id, from, PIECE_LENGTH] });
      const { piece } = row ?? raiseGone();
      isMore = piece.length === PIECE_LENGTH;
      if (piece.length > 0) {
        yield piece;
      }
    }
  }
  return {
    read,
    async put(blob) {
      const id = newId(clock.now());
      await database.copyIn(PUT, blobRow(id, blob));
      return id;
    },
    async get(id) {
      const [row] = await database.rows<{ readonly length: number }>({ text: LENGTH, values: [id] });
      return wholeOf(read(id), row?.length ?? raiseGone());
    },
    async sha256(id) {
      const [row] = await database.rows<{ readonly sha256: string }>({ text: SHA256, values: [id] });
      return row?.sha256 ?? raiseGone();
    },
    async remove(id) {
      await database.query((client) => client.blob.deleteMany({ where: { id } }));
    },
    prune: () => database.query(prune),
  };
}

/** Needs no more memory than the whole and one piece. */
export async function wholeOf(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const whole = Buffer.alloc(length);
  let end = 0;
  for await (const piece of pieces) {
    whole.set(piece, end);
    end += piece.length;
  }
  return whole;
}

const COPY_HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const COPY_END = int16(-1);

/**
 * The row in the binary format of `COPY` (https://www.postgresql.org/docs/15/sql-copy.html). The hash comes last, because it
 * is known once all pieces are sent.
 */
function* blobRow(id: string, blob: Uint8Array): Iterable<Uint8Array> {
  const size = Buffer.alloc(8);
  size.writeBigInt64BE(BigInt(blob.length));
  const uuid = Buffer.from(id.replaceAll("-", ""), "hex");
  yield Buffer.concat([COPY_HEADER, int16(4), field(uuid), field(size), int32(blob.length)]);
  const hash = createHash("sha256");
  for (let from = 0; from < blob.length; from += SENT_PIECE_LENGTH) {
    const piece = blob.subarray(from, from + SENT_PIECE_LENGTH);
    hash.update(piece);
    yield piece;
  }
  yield Buffer.concat([field(Buffer.from(hash.digest("hex"))), COPY_END]);
}

function field(value: Uint8Array): Buffer {
  return Buffer.concat([int32(value.length), value]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
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
