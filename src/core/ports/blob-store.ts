/** Where bytes are kept that every process must reach. Blobs are never changed: a new content is a new blob. */
export interface BlobStore {
  /** Resolves once the blob is durable, with the id by which it is got again. Whoever puts it soon names it in a row. */
  put(blob: Uint8Array): Promise<string>;
  /** Fails when there is no blob of that id. */
  get(id: string): Promise<Uint8Array>;
  /** The same piece by piece, each read when it is asked for: whoever takes them slowly has one of them held. */
  read(id: string): AsyncIterable<Uint8Array>;
  /** Repeatable; a blob that is not there is what was wanted. */
  remove(id: string): Promise<void>;
  /** Drops blobs that have been there for a while and that no row names: their change came to nothing. How many. */
  prune(): Promise<number>;
}
