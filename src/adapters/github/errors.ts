import { AppError, type ErrorCode } from "../../core/errors.ts";

/** The wait that GitHub advises for a secondary limit without a time. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;

interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Wraps what Octokit threw for a call of `route`, which contains placeholders and no secrets. */
export function toAppError(error: unknown, route: string): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const failure = failureOf(error);
  if (!failure) {
    return new AppError("resource_unavailable", `GitHub could not be reached for ${route}.`, {
      cause: error,
    });
  }
  const retryAfterMs = waitOf(failure);
  const { code, retryable } = classifyFailure(failure, retryAfterMs);
  const message = `GitHub answered ${failure.status} to ${route}: ${failure.message}`;
  return new AppError(code, message, {
    cause: error,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** A redirect that was not followed: an issue that was transferred, a repository that was just renamed. */
export function movedError(status: number, route: string): AppError {
  const isForGood = status === 301 || status === 308;
  return new AppError("resource_not_found", `GitHub answered ${status} to ${route}: it has moved.`, {
    retryable: !isForGood,
  });
}

function classifyFailure(
  { status }: Failure,
  retryAfterMs: number | undefined,
): { code: ErrorCode; retryable: boolean } {
  if (status >= 500 || status === 429) {
    return { code: "resource_unavailable", retryable: true };
  }
  if (status === 403 && retryAfterMs !== undefined) {
    return { code: "resource_unavailable", retryable: true };
  }
  // The key is being replaced, or a token was revoked: an operator can repair it before the retry.
  if (status === 401) {
    return { code: "authentication_required", retryable: true };
  }
  // Archived, locked, suspended, or a missing permission of the App: a later try gets the same answer.
  if (status === 403) {
    return { code: "not_authorized", retryable: false };
  }
  if (status === 404 || status === 410) {
    return { code: "resource_not_found", retryable: false };
  }
  if (status === 408 || status === 409) {
    return { code: "resource_unavailable", retryable: true };
  }
  return { code: "invalid_request", retryable: false };
}

/** https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately */
function waitOf({ status, message, headers }: Failure): number | undefined {
  const retryAfter = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(retryAfter)) {
    return retryAfter * 1000;
  }
  if (status !== 403 && status !== 429) {
    return undefined;
  }
  const reset = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] === "0" && Number.isFinite(reset)) {
    return Math.max(reset * 1000 - Date.now(), 1000);
  }
  return /rate limit|abuse detection/i.test(message) ? SECONDARY_LIMIT_WAIT_MS : undefined;
}

/** The answer in an error of Octokit; undefined if GitHub gave none. */
function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !("response" in error) || !("status" in error)) {
    return undefined;
  }
  const { response, status, message } = error;
  if (typeof status !== "number" || typeof response !== "object" || response === null) {
    return undefined;
  }
  const headers = "headers" in response && typeof response.headers === "object" ? response.headers : null;
  return { status, message, headers: { ...headers } };
}
