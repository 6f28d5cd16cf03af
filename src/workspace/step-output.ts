/** Of one step; what is more is left out in the middle, as beginnings and ends say most. */
const HEAD_CHARS = 192 * 1024;
const TAIL_CHARS = 64 * 1024;

/** What a command says, as much of it as is kept: its beginning as it comes, its end when it is known. */
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

  /** What has come since this was asked last. */
  take(): string {
    const text = this.#new;
    this.#new = "";
    return text;
  }

  /** And the rest, when nothing more comes. */
  end(): string {
    const gap = this.#leftOut > 0 ? `\n… ${this.#leftOut} characters left out …\n` : "";
    const text = this.take() + gap + this.#tail;
    this.#tail = "";
    return text;
  }
}
