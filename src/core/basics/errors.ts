/** The error codes of the API. Clients branch on the code, never on the text. docs/api.md lists them. */
export const ERROR_CODES = [
  "invalid_request",
  "authentication_required",
  "external_authentication_required",
  "not_authorized",
  "insufficient_credits",
  "budget_exceeded",
  "feature_not_available",
  "integration_disabled",
  "content_policy_violation",
  "integration_not_configured",
  "resource_not_found",
  "conflict",
  "operation_not_supported",
  "resource_unavailable",
  "internal_error",
  "environment_setup_failed",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * Finer causes than the codes, which strict clients know as a closed list. `infrastructure_timeout`: a time limit of
 * the run. `agent_process_failed`: the agent's process died or did not start. `agent_error`: the agent lives and
 * reported an error.
 */
export const FAILURE_REASONS = ["infrastructure_timeout", "agent_process_failed", "agent_error"] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a program gets no key yet for its device code, or none at all. The names are those of RFC 8628. */
export const DEVICE_CODE_REASONS = [
  "authorization_pending",
  "slow_down",
  "expired_token",
  "access_denied",
] as const;
export type DeviceCodeReason = (typeof DEVICE_CODE_REASONS)[number];

export interface ErrorOptions {
  readonly cause?: unknown;
  /** Whether the same call may succeed later. Default: depends on the code. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly reason?: FailureReason;
  readonly deviceCodeReason?: DeviceCodeReason;
  /** What the caller can do about it, in one sentence. */
  readonly remedy?: string;
  readonly issues?: readonly { readonly path: string; readonly message: string; readonly pointer?: string }[];
  /** What the outside system said, in its own words. */
  readonly said?: string;
  /** The message for people who do not know the calls of the outside system. Default: the message. */
  readonly plain?: string;
  /** The name of the policy that refused. */
  readonly policyName?: string;
  /** The provider that refused or whose key is missing, for example `openai`. */
  readonly provider?: string;
  /** The adapter that the error is about, for example `slack`. */
  readonly integrationName?: string;
  /** Where the user logs in so that the same call may succeed. */
  readonly authUrl?: string;
  /** The version of the resource that the caller wanted to change. */
  readonly currentTag?: string;
  /** How many runs a filter matches, if the caller expected another number. */
  readonly matchingRuns?: number;
  /** Where an administrator sets up what is missing. */
  readonly setupUrl?: string;
}

/** A `conflict` needs a look at the current state first, except for a request that is in progress. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(["resource_unavailable", "internal_error"]);

/** An expected failure. Any other error is a bug. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly options: ErrorOptions;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.options = options;
  }
}

/**
 * The storage cannot be used now: it is unreachable, full or read-only. This is never a result of the work in hand,
 * which waits and is repeated.
 */
export class StorageUnavailable extends AppError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("resource_unavailable", message, options);
  }
}

/**
 * An outside system refuses the server itself: its token is bad, or a permission is missing. Only an operator can
 * repair that, so what was acknowledged waits, however long it takes.
 */
export class Misconfigured extends AppError {
  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(code, message, { ...options, retryable: true });
  }
}

/** What happened, without the call that failed. */
export function plainMessage({ message, options: { plain } }: AppError): string {
  return plain ?? message;
}

/** What happened, and what a person can do about it. */
export function messageWithRemedy({ message, options: { remedy } }: AppError): string {
  return remedy === undefined ? message : `${message} ${remedy}`;
}

/** A limit that becomes free again by itself does not admit the request now. */
export class TooMany extends AppError {
  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs: number }) {
    super("resource_unavailable", message, { ...options, retryable: true });
  }
}

/** For a request with an invalid member. `path` names it as the caller does, and `message` continues the sentence. */
export function invalidMember(path: string, message: string): AppError {
  return new AppError("invalid_request", `${path}: ${message}`, { issues: [{ path, message }] });
}

const ENDS_AS_ERROR: ReadonlySet<ErrorCode> = new Set([
  "authentication_required",
  "resource_unavailable",
  "internal_error",
]);

/** How a run ends after this error: ERROR if the platform caused it, FAILED if the request did. */
export function endStateOf(code: ErrorCode): "FAILED" | "ERROR" {
  return ENDS_AS_ERROR.has(code) ? "ERROR" : "FAILED";
}

/**
 * A start that failed for a reason that the operator can change. The message is one line for that person, printed
 * without a stack.
 */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

const SHOWN_LENGTH_MAX = 80;
/** An address with a password, or with a query, which may hold a key. */
const MAY_HOLD_SECRET = /@|[?#].*=/s;

/**
 * The end of a message about a wrong value: `, not "…"`, on one line. Empty if the value may hold a secret. The caller
 * leaves out values of variables that are secret as a whole.
 */
export function butNot(value: string): string {
  if (MAY_HOLD_SECRET.test(value)) {
    return "";
  }
  return `, not ${JSON.stringify(value.length > SHOWN_LENGTH_MAX ? `${value.slice(0, SHOWN_LENGTH_MAX)}…` : value)}`;
}
