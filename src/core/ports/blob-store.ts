import { AppError } from "../basics/errors.ts";

/** There is no such blob, and there never will be. */
export class BlobGone extends AppError {
  constructor(message = "A stored file is gone.") {
    super("internal_error", message, { retryable: false });
  }
}

/** The bytes of a blob are not those that were stored, so the blob is lost as well. */
export class BlobDamaged extends BlobGone {
  constructor() {
    super("A stored file is damaged.");
  }
}

/** Stores bytes that every process must reach. A blob never changes: new content is a new blob. */
export interface BlobStore {
  /** Resolves with the id once the blob is durable. The caller must soon reference it in a row. */
  put(blob: Uint8Array): Promise<string>;
  /** Fails with `BlobGone` when there is no such blob. */
  get(id: string): Promise<Uint8Array>;
  /** The SHA-256 of the bytes in hexadecimal, without reading them. Fails with `BlobGone` like `get`. */
  sha256(id: string): Promise<string>;
  /** Reads the blob in pieces, each when it is requested. A slow reader keeps one piece in memory. */
  read(id: string): AsyncIterable<Uint8Array>;
  /** Can be repeated. A blob that does not exist is not an error. */
  remove(id: string): Promise<void>;
  /** Deletes old blobs that no row references, because their change was never stored. Returns how many. */
  prune(): Promise<number>;
}
