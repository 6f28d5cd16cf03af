import { AppError, type ErrorCode, type ErrorOptions } from "../core/errors.ts";

/** Which HTTP status a code is answered with (contract §10): the only such table. */
const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  integration_not_configured: 400,
  authentication_required: 401,
  external_authentication_required: 401,
  not_authorized: 403,
  insufficient_credits: 403,
  budget_exceeded: 403,
  feature_not_available: 403,
  integration_disabled: 403,
  content_policy_violation: 403,
  resource_not_found: 404,
  conflict: 409,
  operation_not_supported: 422,
  resource_unavailable: 503,
  internal_error: 500,
  environment_setup_failed: 500,
  agent_process_failed: 500,
  infrastructure_timeout: 500,
};

const TITLE_OF: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "Invalid request",
  integration_not_configured: "Integration not configured",
  authentication_required: "Authentication required",
  external_authentication_required: "External authentication required",
  not_authorized: "Not authorized",
  insufficient_credits: "Insufficient credits",
  budget_exceeded: "Budget exceeded",
  feature_not_available: "Feature not available",
  integration_disabled: "Integration disabled",
  content_policy_violation: "Content policy violation",
  resource_not_found: "Not found",
  conflict: "Conflict",
  operation_not_supported: "Operation not supported",
  resource_unavailable: "Unavailable",
  internal_error: "Internal error",
  environment_setup_failed: "Environment setup failed",
  agent_process_failed: "Agent process failed",
  infrastructure_timeout: "Infrastructure timeout",
};

/** Where the contract fixes a status apart from the code's own: 413, 415, 429, the 422 of a reused key. */
export class StatusError extends AppError {
  readonly status: number;

  constructor(status: number, code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
  }
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly error: string;
  readonly detail?: string;
  readonly instance: string;
  readonly retryable: boolean;
  readonly trace_id: string;
  readonly code: ErrorCode;
  readonly remedy?: string;
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
}

export interface ProblemContext {
  readonly publicUrl: string;
  readonly instance: string;
  readonly traceId: string;
}

export function statusOf(error: AppError): number {
  return error instanceof StatusError ? error.status : STATUS_OF[error.code];
}

/** The body of a refusal. What went wrong inside is not the caller's: of a 5xx it is told what the API chose to say. */
export function problemOf(error: AppError, { publicUrl, instance, traceId }: ProblemContext): Problem {
  const status = statusOf(error);
  const title = TITLE_OF[error.code];
  const detail = status < 500 || error instanceof StatusError ? error.message : undefined;
  const { remedy, issues } = error.options;
  return {
    type: `${publicUrl}/problems/${error.code}`,
    title,
    status,
    error: detail === undefined ? title : `${title}: ${detail}`,
    ...(detail === undefined ? {} : { detail }),
    instance,
    retryable: error.retryable,
    trace_id: traceId,
    code: error.code,
    ...(remedy === undefined ? {} : { remedy }),
    ...(issues === undefined ? {} : { issues }),
  };
}

const UNAVAILABLE_RETRY_MS = 1_000;

/** Public clients repeat every 409, 429 and 5xx, POST included, unless these headers say otherwise. */
export function retryHeaders(error: AppError): Record<string, string> {
  const headers = { "x-should-retry": String(error.retryable) };
  const unavailableMs = error.code === "resource_unavailable" ? UNAVAILABLE_RETRY_MS : undefined;
  const waitMs = error.options.retryAfterMs ?? unavailableMs;
  if (!error.retryable || waitMs === undefined) return headers;
  return { ...headers, "retry-after": String(Math.ceil(waitMs / 1_000)), "retry-after-ms": String(waitMs) };
}
