import { createHash } from "node:crypto";
import type { Clock } from "../core/basics/clock.ts";
import { newId } from "../core/basics/ids.ts";
import { BlobDamaged, type BlobStore } from "../core/ports/blob-store.ts";
import type { ObjectStore, StoredObject } from "../core/ports/object-store.ts";
import { raiseGone, wholeOf } from "./blob-store.ts";
import type { Database, Statements } from "./database.ts";

export interface ObjectBlobStoreDeps {
  readonly database: Database;
  readonly objects: ObjectStore;
  /** The blobs whose bytes are in the database. */
  readonly rows: BlobStore;
  readonly clock: Clock;
}

interface Row {
  readonly location: string | null;
  readonly size_bytes: string;
  readonly sha256: string;
}

const INSERT =
  "INSERT INTO blobs (id, size_bytes, sha256, location) VALUES ($1::uuid, $2::bigint, $3::text, $4::text)";
const FIND = "SELECT location, size_bytes, sha256 FROM blobs WHERE id = $1::uuid";

/**
 * Stores the bytes of new blobs as objects, and reads each blob where its row says that it is. An object is stored before its
 * row, and removed after it, so a row always has its bytes.
 */
export function createObjectBlobStore({ clock, database, objects, rows }: ObjectBlobStoreDeps): BlobStore {
  const find = async (id: string): Promise<Row> => {
    const [row] = await database.rows<Row>({ text: FIND, values: [id] });
    return row ?? raiseGone();
  };
  const read = async function* (id: string): AsyncIterable<Uint8Array> {
    const row = await find(id);
    yield* row.location === null ? rows.read(id) : readObject(objects, id, row);
  };
  return {
    ...rows,
    read,
    async put(blob) {
      const id = newId(clock.now());
      await objects.put(id, blob);
      const sha256 = createHash("sha256").update(blob).digest("hex");
      await database.rows({ text: INSERT, values: [id, blob.length, sha256, objects.location] });
      return id;
    },
    async get(id) {
      const row = await find(id);
      return row.location === null
        ? rows.get(id)
        : wholeOf(readObject(objects, id, row), Number(row.size_bytes));
    },
    prune: async () => {
      const count = await rows.prune();
      const isOwner = (await findOtherOwner(database, objects)) === undefined;
      return isOwner
        ? count + (await removeObjects(database, objects)) + (await removeOrphans(database, objects, clock))
        : count;
    },
  };
}

/** Keeps the last piece back until the hash of all is right, so that nobody takes damaged bytes for the whole. */
async function* readObject(objects: ObjectStore, id: string, row: Row): AsyncIterable<Uint8Array> {
  if (row.location !== objects.location) {
    throw new Error(`A blob is in ${row.location}, and ERRAND_BLOB_URL is ${objects.location}.`);
  }
  const hash = createHash("sha256");
  const sizeBytes = Number(row.size_bytes);
  let last: Uint8Array | undefined;
  let read = 0;
  for await (const piece of objects.read(id, sizeBytes)) {
    hash.update(piece);
    read += piece.length;
    if (read > sizeBytes) {
      break;
    }
    if (last !== undefined) {
      yield last;
    }
    last = piece;
  }
  if (read !== sizeBytes || hash.digest("hex") !== row.sha256) {
    throw new BlobDamaged();
  }
  if (last !== undefined) {
    yield last;
  }
}

/**
 * The database that uses the store, unless it is this one. A copy of a database must not delete the objects of its original,
 * so only the first database that uses a store deletes there. A restored dump is another database.
 */
export async function findOtherOwner(
  database: Statements,
  objects: ObjectStore,
): Promise<string | undefined> {
  const [own] = await database.rows<{ readonly id: string }>({
    text: `SELECT 'PostgreSQL ' || system_identifier || ', database ' || oid AS id
      FROM pg_control_system(), pg_database WHERE datname = current_database()`,
    values: [],
  });
  const id = own?.id ?? "";
  const owner = await objects.owner(id);
  return owner === id ? undefined : owner;
}

const REMOVED_AT_ONCE = 20;

/**
 * Deletes the objects of deleted rows, and then the word of them. The rows are locked meanwhile: who moves a blob back to
 * this store waits for it.
 */
export function removeObjects(database: Statements, objects: ObjectStore): Promise<number> {
  const { location } = objects;
  return database.transaction(async (tx) => {
    const removals = await tx.$queryRaw<{ readonly id: string }[]>`
      SELECT id FROM blob_removals WHERE location = ${location} LIMIT ${REMOVED_AT_ONCE} FOR UPDATE SKIP LOCKED`;
    const ids = removals.map(({ id }) => id);
    await Promise.all(ids.map((id) => objects.remove(id)));
    return tx.$executeRaw`DELETE FROM blob_removals WHERE location = ${location} AND id = ANY (${ids}::uuid[])`;
  });
}

const DAY_MS = 86_400_000;
/** How far back objects without a row are looked for. A process that was killed before leaves them for the operator. */
const WINDOW_DAYS = 7;

/**
 * Deletes the objects of processes that were killed before they stored the row. An object that is younger than a day
 * may still get its row.
 */
async function removeOrphans(database: Statements, objects: ObjectStore, clock: Clock): Promise<number> {
  const now = clock.now().getTime();
  const isOld = ({ storedAt }: StoredObject) => now - storedAt.getTime() > DAY_MS;
  const idBefore = (days: number) => newId(new Date(now - days * DAY_MS));
  let count = 0;
  for await (const group of objects.list(idBefore(WINDOW_DAYS), idBefore(1))) {
    const ids = group.filter(isOld).map(({ id }) => id);
    const orphans = await database.rows<{ readonly id: string }>({
      text: `SELECT id FROM unnest($1::uuid[]) AS id
        WHERE NOT EXISTS (SELECT FROM blobs WHERE blobs.id = id.id AND location = $2::text)`,
      values: [ids, objects.location],
    });
    await Promise.all(orphans.map(({ id }) => objects.remove(id)));
    count += orphans.length;
  }
  return count;
}

/** A store in which blobs are that a process with this store, or without one, cannot read. Undefined: there is none. */
export async function findOtherLocation(
  database: Statements,
  location: string | undefined,
): Promise<string | undefined> {
  const [row] = await database.rows<{ readonly location: string }>({
    text: `(SELECT location FROM blobs WHERE location < $1::text LIMIT 1)
      UNION ALL (SELECT location FROM blobs WHERE location > $1::text LIMIT 1)`,
    values: [location ?? ""],
  });
  return row?.location;
}
