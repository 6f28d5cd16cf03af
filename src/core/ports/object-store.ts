/** Stores bytes outside the database, under the ids of blobs. The rows of the database say which blobs there are. */
export interface ObjectStore {
  /** Names the store in rows, for example `s3://bucket/prefix`. */
  readonly location: string;
  /** Resolves once the object is durable. Fails with `StorageUnavailable`. Can be repeated with the same bytes. */
  put(id: string, bytes: Uint8Array): Promise<void>;
  /**
   * Reads the object in pieces, and continues after a lost connection. An object that is shorter ends earlier. Fails with
   * `BlobGone` if there is no such object, and otherwise with `StorageUnavailable`.
   */
  read(id: string, sizeBytes: number): AsyncIterable<Uint8Array>;
  /** Can be repeated. An object that does not exist is not an error. */
  remove(id: string): Promise<void>;
  /** The objects whose ids are between the two, in the order of their ids, in groups. Ids begin with their time. */
  list(afterId: string, beforeId: string): AsyncIterable<readonly StoredObject[]>;
  /** The owner of the store: `candidate` if it had none before. */
  owner(candidate: string): Promise<string>;
  close(): void;
}

export interface StoredObject {
  readonly id: string;
  readonly storedAt: Date;
}
