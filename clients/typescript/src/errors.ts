import type { Error as Problem } from "./generated/types.ts";

/** The base class of everything that the client throws. */
export class ErrandError extends Error {
  override readonly name: string = "ErrandError";
}

/** The server answered with an error. The subclasses stand for its HTTP status. */
export class APIError extends ErrandError {
  override readonly name: string = "APIError";
  /** The HTTP status. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The body of the response: JSON if it was JSON, otherwise the text. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown) {
    super(messageOf(status, headers, body));
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** What went wrong, as one of 16 codes. Decide by this code, never by the text. */
  get code(): Problem["code"] {
    return this.problem.code;
  }

  /** What you can do about it, for people. */
  get remedy(): string | undefined {
    return this.problem.remedy ?? (isOfProxy(this.status, this.body) ? PROXY_REMEDY : undefined);
  }

  /** For invalid input: the path of each invalid member, and what is wrong with it. */
  get issues(): Problem["issues"] {
    return this.problem.issues;
  }

  /** The id of the request in the logs of the server. */
  get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? this.problem.trace_id;
  }

  /** The body as the server's errors have it. Every member is missing if something else has answered. */
  get problem(): Partial<Problem> {
    return isObject(this.body) ? this.body : {};
  }
}

/** 400: the request is not valid. `issues` says where. */
export class BadRequestError extends APIError {
  override readonly name = "BadRequestError";
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthenticationError extends APIError {
  override readonly name = "AuthenticationError";
}

/** 403: the key is known and may not do this. */
export class PermissionDeniedError extends APIError {
  override readonly name = "PermissionDeniedError";
}

/** 404: the object does not exist, or the caller may not see it. */
export class NotFoundError extends APIError {
  override readonly name = "NotFoundError";
}

/** 409: the request does not fit the current state of the object. */
export class ConflictError extends APIError {
  override readonly name = "ConflictError";
}

/** 422: the operation is not possible, or its idempotency key belongs to another request. */
export class UnprocessableEntityError extends APIError {
  override readonly name = "UnprocessableEntityError";
}

/** 429: too many requests, open streams or waiting runs. */
export class RateLimitError extends APIError {
  override readonly name = "RateLimitError";
}

/** 500 and above: the server failed, or is not available. */
export class InternalServerError extends APIError {
  override readonly name = "InternalServerError";
}

/** There is no complete response: the connection was refused or broke off. `cause` is the error of `fetch`. */
export class APIConnectionError extends ErrandError {
  override readonly name: string = "APIConnectionError";
}

/** The server did not answer within `timeoutMs`. */
export class APIConnectionTimeoutError extends APIConnectionError {
  override readonly name = "APIConnectionTimeoutError";
}

/** The response is not what an Errand server sends. Something else answers at its address. */
export class InvalidResponseError extends ErrandError {
  override readonly name = "InvalidResponseError";
  /** The id of the request in the logs of the server. */
  readonly requestId: string | undefined;

  /** `name` is the method and the path of the request. */
  constructor(fault: string, { name, response }: { readonly name: string; readonly response: Response }) {
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const id = requestId === undefined ? "" : ` Its request id is ${requestId}.`;
    super(`The response to ${name} ${fault}.${id}`);
    this.requestId = requestId;
  }
}

/** The caller's `signal` ended the request. `cause` is its reason. */
export class APIUserAbortError extends ErrandError {
  override readonly name = "APIUserAbortError";
}

/** A received webhook message is not authentic: nobody who knows the secret has signed it recently. */
export class WebhookVerificationError extends ErrandError {
  override readonly name = "WebhookVerificationError";
}

const BY_STATUS: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** Creates the error of a response. `text` is its body. */
export function errorOfResponse({ status, headers }: Response, text: string): APIError {
  const ErrorClass = BY_STATUS[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new ErrorClass(status, headers, parsed(text));
}

/** Creates the error of a failed connection. `signal` is that of the caller. */
export function errorOfConnection(error: unknown, signal: AbortSignal | undefined): ErrandError {
  if (error instanceof ErrandError) {
    return error;
  }
  if (signal?.aborted) {
    return new APIUserAbortError("The request was aborted by its caller.", { cause: signal.reason });
  }
  return new APIConnectionError(`The connection to the server failed: ${reasonOf(error)}`, { cause: error });
}

/** `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

const PROXY_REMEDY =
  "Send less at once, or ask the operator of the server to let the proxy pass bodies of 30 MiB.";

/** Errand says itself which limit a body exceeds. A proxy before it answers with a page or with nothing. */
function isOfProxy(status: number, body: unknown): boolean {
  return status === 413 && !(isObject(body) && typeof body.error === "string");
}

function messageOf(status: number, headers: Headers, body: unknown): string {
  if (isObject(body) && typeof body.error === "string") {
    return body.error;
  }
  if (isOfProxy(status, body)) {
    return "A proxy before the server refuses bodies of this size.";
  }
  return `The response has the status ${status} and the type ${headers.get("content-type") ?? "unknown"}.`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Partial<Problem> {
  return typeof value === "object" && value !== null;
}
