/** Where files are kept that every worker must reach. Blobs are never changed: a new content is a new blob. */
export interface BlobStore {
  /** Resolves once the blob is durable, with the id by which it is got again. */
  put(blob: Uint8Array): Promise<string>;
  /** Fails when there is no blob of that id. */
  get(id: string): Promise<Uint8Array>;
  /** Repeatable; a blob that is not there is what was wanted. */
  remove(id: string): Promise<void>;
}
