import { once } from "node:events";
import type pg from "pg";

/** The types of the driver leave it out. */
interface CopyConnection extends pg.Connection {
  endCopyFrom(): void;
}

/** The type of a message with data, before its length (https://www.postgresql.org/docs/15/protocol-message-formats.html). */
const COPY_DATA = "d";
const LENGTH_BYTES = 4;

/**
 * A `COPY … FROM STDIN` whose data is sent piece by piece, each when the one before has left this process. The parameter
 * of an ordinary statement is copied as a whole first. The driver calls the methods (`Submittable` in its types). A
 * connection whose copy failed cannot be used again.
 */
export class CopyIn implements pg.Submittable {
  readonly #text: string;
  readonly #pieces: Iterable<Uint8Array>;
  readonly #ended = Promise.withResolvers<void>();
  #isEnded = false;

  constructor(text: string, pieces: Iterable<Uint8Array>) {
    this.#text = text;
    this.#pieces = pieces;
  }

  /** Resolves when the server has stored all rows, and rejects if it has stored none. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error) => this.handleError(error));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback();
    this.#ended.resolve();
  }

  handleError(error: unknown): void {
    this.#isEnded = true;
    this.callback();
    this.#ended.reject(error);
  }

  /** The driver replaces it by the end of its time limit. */
  callback(): void {}

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection;
    for (const piece of this.#pieces) {
      if (this.#isEnded) {
        return;
      }
      stream.write(headerOf(piece));
      if (!stream.write(piece)) {
        await once(stream, "drain");
      }
    }
    connection.endCopyFrom();
  }
}

/** The driver has a method for the whole message, which copies the piece. */
function headerOf({ length }: Uint8Array): Buffer {
  const header = Buffer.alloc(COPY_DATA.length + LENGTH_BYTES, COPY_DATA);
  header.writeInt32BE(LENGTH_BYTES + length, COPY_DATA.length);
  return header;
}
