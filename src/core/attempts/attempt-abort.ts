import type { ErrorCode } from "../errors.ts";
import type { StatusMessage } from "../runs/run.ts";

/** How a run ends that did not go well. */
export type RunFailure = StatusMessage & { readonly errorCode: ErrorCode };

/** Why an attempt's work ends before it is done. */
export type AbortReason =
  /** `lost`: the run is another's. `unanswered`: nobody answers the agent's question; the run waits on without it. */
  | { readonly kind: "lost" | "cancelled" | "stopping" | "unanswered" }
  /** A limit was met, or something failed: the run ends. */
  | { readonly kind: "failed"; readonly failure: RunFailure };

/** The one reason for which an attempt is broken off: the first that is given. */
export class AttemptAbort {
  readonly #over = new AbortController();
  readonly happened: Promise<AbortReason>;
  #tell: (reason: AbortReason) => void = () => undefined;
  #reason: AbortReason | undefined;

  constructor() {
    this.happened = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  get reason(): AbortReason | undefined {
    return this.#reason;
  }

  /** Fires when the work is broken off. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  abort(reason: AbortReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#tell(reason);
    this.#over.abort();
  }

  /**
   * What comes of `work`, or undefined when everything is broken off before; then nobody waits for it any more. A worker
   * that stops lets it come to its end, or it would be done once more.
   */
  async unless<T>(work: Promise<T>): Promise<T | undefined> {
    work.catch(() => undefined);
    const given = this.happened.then(({ kind }) => (kind === "stopping" ? work : undefined));
    return Promise.race([work, given]);
  }
}
