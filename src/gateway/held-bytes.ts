/** Limits what a gateway holds in memory, over all its calls. */
export class HeldBytes {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Reads a body completely if it fits `maxBytes` and the limit. Otherwise returns what was read, and the rest. */
  async read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<HeldBody> {
    const iterator = body[Symbol.asyncIterator]();
    const held: Buffer[] = [];
    let bytes = 0;
    const release = (): void => {
      this.#left += bytes;
      bytes = 0;
    };
    try {
      while (bytes <= maxBytes && this.#left > 0) {
        const next = await iterator.next();
        if (next.done === true) {
          return { whole: Buffer.concat(held), release };
        }
        held.push(next.value);
        bytes += next.value.length;
        this.#left -= next.value.length;
      }
    } catch (error) {
      release();
      throw error;
    }
    return { passing: continued(held, iterator), release };
  }
}

export type HeldBody = {
  /** Must be called when the body is no longer needed; can be repeated. */
  readonly release: () => void;
} & (
  | { readonly whole: Buffer; readonly passing?: undefined }
  | { readonly passing: AsyncIterable<Buffer>; readonly whole?: undefined }
);

/** What was already read, followed by the rest. */
export async function* continued(
  begun: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  yield* begun;
  yield* { [Symbol.asyncIterator]: () => rest };
}
