/** Faults that a test orders for coming calls. `appliesTo` says whether a fault is for a call. */
export class FaultQueue<Fault, Call> {
  readonly #appliesTo: (fault: Fault, call: Call) => boolean;
  #once: Fault[] = [];
  #lasting: Fault[] = [];

  constructor(appliesTo: (fault: Fault, call: Call) => boolean) {
    this.#appliesTo = appliesTo;
  }

  /** The fault affects the next matching call. Two calls of this method affect the next two. */
  next(fault: Fault): void {
    this.#once.push(fault);
  }

  /** The fault affects every matching call until the returned function or `clear` is called. */
  until(fault: Fault): () => void {
    this.#lasting.push(fault);
    return () => {
      this.#lasting = this.#lasting.filter((other) => other !== fault);
    };
  }

  clear(): void {
    this.#once = [];
    this.#lasting = [];
  }

  take(call: Call): Fault | undefined {
    const at = this.#once.findIndex((fault) => this.#appliesTo(fault, call));
    if (at >= 0) {
      return this.#once.splice(at, 1)[0];
    }
    return this.#lasting.find((fault) => this.#appliesTo(fault, call));
  }
}
