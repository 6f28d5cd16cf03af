import { defined } from "../../core/basics/defined.ts";
import { AppError, type ErrorCode } from "../../core/basics/errors.ts";
import type { Gateway, GatewayTraffic, ModelFailure } from "../../core/ports/gateway.ts";
import { bounded, codeOfStatus, KEY_REMEDY, saysQuotaIsGone } from "./agent-error.ts";

const PRICE_REMEDY =
  "Use a model with a price, limit tokens, minutes or turns instead, or set its price in ERRAND_MODEL_PRICES.";

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  external_authentication_required: KEY_REMEDY,
  invalid_request:
    "Send a follow-up. The agent then starts a new session and is given the conversation so far. If that fails as well, choose another model.",
};

/** How the model's last answer ends a turn, according to the gateway. */
function failureOf({ isUnpriced, message, status }: ModelFailure): AppError {
  if (isUnpriced === true) {
    return new AppError("operation_not_supported", bounded(message), { remedy: PRICE_REMEDY });
  }
  const code = codeFor(status, message);
  const remedy = REMEDIES[code];
  return new AppError(code, bounded(`The model answered with an error: ${message}`), defined({ remedy }));
}

function codeFor(status: number | undefined, message: string): ErrorCode {
  if (status === undefined) {
    return "resource_unavailable";
  }
  if (saysQuotaIsGone(message)) {
    return "insufficient_credits";
  }
  // Any other 4xx: there is no such model, or the request is too large for it.
  return codeOfStatus(status) ?? "invalid_request";
}

/** After this many failures in a row, the turn ends. Repeating does not help against a rejected key. */
const FAILURES_MAX = 5;
const REFUSALS_MAX = 3;

/**
 * Watches what the model answers during one turn, because agents do not report it reliably and some retry for ever.
 */
export class ModelWatch {
  readonly gaveUp: Promise<AppError>;
  readonly #gateway: Gateway;
  readonly #before: GatewayTraffic;
  readonly #stop: () => void;
  #giveUp: (failure: AppError) => void = () => undefined;
  #last: ModelFailure | undefined;
  #failures = 0;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#before = gateway.traffic;
    this.#last = this.#before.modelFailure;
    this.gaveUp = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#stop = gateway.watch(({ modelFailure }) => this.#look(modelFailure));
  }

  /** The model's last answer in this turn, if it was an error. */
  failure(): AppError | undefined {
    const { modelFailure } = this.#gateway.traffic;
    if (modelFailure === undefined || modelFailure === this.#before.modelFailure) {
      return undefined;
    }
    return failureOf(modelFailure);
  }

  /** The usage of this turn, if a model was called through the gateway. */
  usage() {
    const { models: now } = this.#gateway.traffic;
    const { models: before } = this.#before;
    if (now.calls === before.calls || now.totalTokens === before.totalTokens) {
      return undefined;
    }
    return {
      inputTokens: now.inputTokens - before.inputTokens,
      outputTokens: now.outputTokens - before.outputTokens,
      totalTokens: now.totalTokens - before.totalTokens,
    };
  }

  end(): void {
    this.#stop();
  }

  #look(failure: ModelFailure | undefined): void {
    if (failure === this.#last) {
      return;
    }
    this.#last = failure;
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    if (failure === undefined) {
      return;
    }
    const cause = failureOf(failure);
    if (this.#failures >= (cause.retryable ? FAILURES_MAX : REFUSALS_MAX)) {
      this.#giveUp(cause);
    }
  }
}
