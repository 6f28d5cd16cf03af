import { defined } from "../../basics/defined.ts";
import { AppError, type ErrorCode, type FailureReason } from "../../basics/errors.ts";
import type { StatusMessage } from "../../model/runs/run.ts";

/** The state message of a run that ends with a failure or an error. */
export type RunFailure = StatusMessage & { readonly errorCode: ErrorCode };

const REMEDIES: Readonly<Record<FailureReason, string>> = {
  infrastructure_timeout: "Send a follow-up, which continues the work, or request less work at once.",
  agent_process_failed:
    "Send a follow-up, which restarts the agent. If it fails again, ask the operator to read the log.",
  agent_error: "Send a follow-up with what the agent needs, or choose another agent or model.",
};

/** The failure of a run whose work threw `error`. `clean` removes secrets from texts. */
export function runFailureOf(error: unknown, clean = (text: string) => text): RunFailure {
  if (!(error instanceof AppError)) {
    const message = "The platform failed while it worked on this run.";
    return { message, errorCode: "internal_error", retryable: true };
  }
  const { code: errorCode, message, options, retryable } = error;
  const { reason } = options;
  const remedy = options.remedy ?? (reason && REMEDIES[reason]);
  return {
    message: clean(message),
    errorCode,
    retryable,
    ...defined({ reason, remedy: remedy === undefined ? undefined : clean(remedy) }),
  };
}

/** Why an attempt stops before its work is done. */
export type AbortReason =
  /**
   * `lost`: another worker owns the run. `unanswered`: nobody has answered the agent's question in time, or too
   * many agents wait or memory is short, so the run waits without its agent. `unstored`: the storage was unavailable for
   * too long, so another attempt continues the run. `paused`: the run was interrupted, and no follow-up came in time or
   * its agent did not end the turn.
   */
  | { readonly kind: "lost" | "cancelled" | "paused" | "stopping" | "unanswered" | "unstored" }
  /** A limit was reached, or something failed: the run ends. */
  | { readonly kind: "failed"; readonly failure: RunFailure };

/** Records why an attempt was aborted. Only the first reason counts. */
export class AttemptAbort {
  readonly #over = new AbortController();
  readonly aborted: Promise<AbortReason>;
  #resolve: (reason: AbortReason) => void = () => undefined;
  #reason: AbortReason | undefined;

  constructor() {
    this.aborted = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get reason(): AbortReason | undefined {
    return this.#reason;
  }

  /** Aborts when the attempt is aborted. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  abort(reason: AbortReason): void {
    if (this.#reason !== undefined) {
      return;
    }
    this.#reason = reason;
    this.#resolve(reason);
    this.#over.abort();
  }

  /**
   * Returns the result of `work`, or undefined if the attempt is aborted first. A stopping worker still waits for
   * `work`, because otherwise the next attempt would repeat it.
   */
  async unless<T>(work: Promise<T>): Promise<T | undefined> {
    work.catch(() => undefined);
    const aborted = this.aborted.then(({ kind }) => (kind === "stopping" ? work : undefined));
    return Promise.race([work, aborted]);
  }
}
