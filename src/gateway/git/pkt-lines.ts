import { Refusal } from "../refusal.ts";

/** What carries a length in front; or `flush`, which ends a list of such. */
export type PktLine = Buffer | "flush";

const LENGTH_CHARS = 4;
/** Lengths below this one are marks without content. */
const MARKS_END = 4;

/** Git's framing, taken apart as it comes: https://git-scm.com/docs/gitprotocol-common */
export class PktLines {
  #held = Buffer.alloc(0);

  /** Line by line, as whoever reads them knows after which one something else follows. Throws for what is none. */
  *push(chunk: Buffer): Generator<PktLine, void> {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let length = this.#nextLength(); length !== undefined; length = this.#nextLength()) {
      const line = length < MARKS_END ? "flush" : this.#held.subarray(LENGTH_CHARS, length);
      this.#held = this.#held.subarray(Math.max(length, LENGTH_CHARS));
      yield line;
    }
  }

  /** Undefined: it is not there whole. */
  #nextLength(): number | undefined {
    if (this.#held.length < LENGTH_CHARS) return undefined;
    const digits = this.#held.toString("latin1", 0, LENGTH_CHARS);
    if (!/^[\da-f]{4}$/i.test(digits)) throw new Refusal(400, "This is not of git's protocol.");
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
