import { Refusal } from "../refusal.ts";

/** A line with its length in front, or `flush`, which ends a list. */
export type PktLine = Buffer | "flush";

const LENGTH_CHARS = 4;
/** Lengths below this one are markers without content. */
const MARKS_END = 4;

/** Parses git's framing from a stream: https://git-scm.com/docs/gitprotocol-common */
export class PktLines {
  #held = Buffer.alloc(0);

  /**
   * Returns line by line, because only the reader knows after which line other data follows. Throws for invalid data.
   */
  *push(chunk: Buffer): Generator<PktLine, void> {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let length = this.#nextLength(); length !== undefined; length = this.#nextLength()) {
      const line = length < MARKS_END ? "flush" : this.#held.subarray(LENGTH_CHARS, length);
      this.#held = this.#held.subarray(Math.max(length, LENGTH_CHARS));
      yield line;
    }
  }

  /** Undefined: the length has not arrived completely. */
  #nextLength(): number | undefined {
    if (this.#held.length < LENGTH_CHARS) {
      return undefined;
    }
    const digits = this.#held.toString("latin1", 0, LENGTH_CHARS);
    if (!/^[\da-f]{4}$/i.test(digits)) {
      throw new Refusal(400, "This is not git's protocol.");
    }
    const length = Number.parseInt(digits, 16);
    return this.#held.length < length ? undefined : length;
  }
}

export function pktLine(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const length = (bytes.length + LENGTH_CHARS).toString(16).padStart(LENGTH_CHARS, "0");
  return Buffer.concat([Buffer.from(length), bytes]);
}

export const FLUSH = Buffer.from("0000");
