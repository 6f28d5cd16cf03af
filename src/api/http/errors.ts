import { defined } from "../../core/basics/defined.ts";
import {
  AppError,
  type DeviceCodeReason,
  type ErrorCode,
  type ErrorOptions,
  TooMany,
} from "../../core/basics/errors.ts";
import { jsonPointer } from "../../core/basics/json-pointer.ts";
import { ERROR_TABLE } from "./error-table.ts";

/** An error with another status than that of its code: 405, 412, 413, 415, 429, and 422 for a reused idempotency key. */
export class StatusError extends AppError {
  readonly status: number;

  constructor(status: number, code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
  }
}

export function bodyTooLarge(limit: number): StatusError {
  return new StatusError(413, "invalid_request", `The body is larger than the limit of ${limit} bytes.`, {
    remedy: "Send less data at once, or ask the operator of this server for a higher limit.",
  });
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
  readonly remedy: string;
  readonly issues?: readonly { readonly path: string; readonly message: string; readonly pointer?: string }[];
  readonly reason?: DeviceCodeReason;
  readonly auth_url?: string;
  readonly provider?: string;
  readonly integration_name?: string;
  readonly setup_url?: string;
  readonly current_etag?: string;
  readonly matching_runs?: number;
}

export interface ProblemContext {
  readonly publicUrl: string;
  readonly instance: string;
  readonly traceId: string;
  /** The request has a JSON body, so that `issues` point into it. */
  readonly hasBody?: boolean;
}

const TOO_MANY_STATUS = 429;

export function statusOf(error: AppError): number {
  if (error instanceof TooMany) {
    return TOO_MANY_STATUS;
  }
  return error instanceof StatusError ? error.status : ERROR_TABLE[error.code].status;
}

/** Returns the body of an error response. Of internal errors (5xx), the caller sees only the trace id. */
export function problemOf(
  error: AppError,
  { publicUrl, instance, traceId, hasBody = false }: ProblemContext,
): Problem {
  const status = statusOf(error);
  const { title, remedy: usualRemedy } = ERROR_TABLE[error.code];
  const common = {
    type: `${publicUrl}/problems/${error.code}`,
    title,
    status,
    error: title,
    instance,
    retryable: error.retryable,
    trace_id: traceId,
    code: error.code,
    remedy: usualRemedy,
  };
  if (status >= 500) {
    return common;
  }
  const { message, options } = error;
  const { remedy = usualRemedy, issues } = options;
  const described = { error: `${title}: ${message}`, detail: message, remedy };
  const pointed = hasBody ? issues?.map(withPointer) : issues;
  return { ...common, ...described, ...defined({ issues: pointed }), ...othersOf(options) };
}

type Issue = NonNullable<ErrorOptions["issues"]>[number];

/** Names of headers begin with a capital letter. A path of names with dots has its pointer already. */
function withPointer(issue: Issue): Issue {
  const { path, pointer = jsonPointer(path === "" ? [] : path.split(".")) } = issue;
  return /^[A-Z][A-Za-z]*-/.test(path) || path === "cursor" ? issue : { ...issue, pointer };
}

/** The members that only some errors have. */
function othersOf(options: ErrorOptions): Partial<Problem> {
  const { authUrl, currentTag, deviceCodeReason, integrationName, matchingRuns, provider, setupUrl } =
    options;
  return defined({
    reason: deviceCodeReason,
    auth_url: authUrl ? authUrl : undefined,
    provider: provider ? provider : undefined,
    integration_name: integrationName ? integrationName : undefined,
    setup_url: setupUrl ? setupUrl : undefined,
    current_etag: currentTag ? currentTag : undefined,
    matching_runs: matchingRuns,
  });
}

const UNAVAILABLE_RETRY_MS = 1_000;

/** Public clients repeat each 409, 429 and 5xx, including POST, unless these headers forbid it. */
export function retryHeaders(error: AppError): Record<string, string> {
  const headers = { "x-should-retry": String(error.retryable) };
  const unavailableMs = error.code === "resource_unavailable" ? UNAVAILABLE_RETRY_MS : undefined;
  const waitMs = error.options.retryAfterMs ?? unavailableMs;
  if (!error.retryable || waitMs === undefined) {
    return headers;
  }
  return { ...headers, "retry-after": String(Math.ceil(waitMs / 1_000)), "retry-after-ms": String(waitMs) };
}
