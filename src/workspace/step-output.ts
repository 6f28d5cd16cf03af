/** The limits for one step. A longer output is cut in the middle, because its beginning and end say most. */
const HEAD_CHARS = 192 * 1024;
const TAIL_CHARS = 64 * 1024;

/** Collects the output of a command: the beginning as it arrives, the end when it is known. */
export class StepOutput {
  #said = 0;
  #new = "";
  #tail = "";
  #leftOut = 0;

  add(text: string): void {
    const room = Math.max(0, HEAD_CHARS - this.#said);
    const head = text.slice(0, room);
    this.#said += head.length;
    this.#new += head;
    const tail = this.#tail + text.slice(room);
    this.#leftOut += Math.max(0, tail.length - TAIL_CHARS);
    this.#tail = tail.slice(-TAIL_CHARS);
  }

  /** The output since the last call. */
  take(): string {
    const text = this.#new;
    this.#new = "";
    return text;
  }

  /** The rest, after the end of the output. */
  end(): string {
    const gap = this.#leftOut > 0 ? `\n… ${this.#leftOut} characters left out …\n` : "";
    const text = this.take() + gap + this.#tail;
    this.#tail = "";
    return text;
  }
}
