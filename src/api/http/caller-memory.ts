import type { FastifyReply, FastifyRequest } from "fastify";
import { countedId } from "./rate-limit.ts";

/** Counts how much memory the requests of each caller take until they are over. */
export class CallerMemory {
  readonly #max: number;
  readonly #byCaller = new Map<string, number>();
  readonly #byResponse = new WeakMap<FastifyReply["raw"], number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Sets what this request takes, unless it already takes more. Returns false if the caller's requests would take more
   * than the maximum. A caller's only request may take any amount.
   */
  take(request: FastifyRequest, { raw }: FastifyReply, length: number): boolean {
    const before = this.#byResponse.get(raw) ?? 0;
    if (length <= before || raw.destroyed) {
      return true;
    }
    const caller = countedId(request);
    const others = (this.#byCaller.get(caller) ?? 0) - before;
    if (others > 0 && others + length > this.#max) {
      return false;
    }
    this.#byCaller.set(caller, others + length);
    this.#byResponse.set(raw, length);
    if (before === 0) {
      raw.once("close", () => this.#release(caller, raw));
    }
    return true;
  }

  #release(caller: string, raw: FastifyReply["raw"]): void {
    const left = (this.#byCaller.get(caller) ?? 0) - (this.#byResponse.get(raw) ?? 0);
    if (left > 0) {
      this.#byCaller.set(caller, left);
    } else {
      this.#byCaller.delete(caller);
    }
  }
}
