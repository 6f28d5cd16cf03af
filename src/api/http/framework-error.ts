import { AppError } from "../../core/basics/errors.ts";
import { StatusError } from "./errors.ts";

interface Refusal {
  readonly message: string;
  readonly remedy: string;
}

const SEND_JSON = "Send UTF-8 JSON with Content-Type: application/json.";

const REFUSALS: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    message: "This content type is not supported here.",
    remedy: SEND_JSON,
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    message: "The length of the body differs from the Content-Length header.",
    remedy: "Send the length of the body in bytes, not in characters.",
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { message: "The body is not valid JSON.", remedy: SEND_JSON },
  FST_ERR_CTP_EMPTY_JSON_BODY: { message: "The body is empty.", remedy: SEND_JSON },
  FST_ERR_BAD_URL: {
    message: "The address is malformed.",
    remedy:
      "Check the address: a % must be followed by two hexadecimal digits, and the result must be UTF-8.",
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    message: "There is nothing at this address.",
    remedy: "Check the address: one of its segments is longer than any id.",
  },
};
const UNREADABLE: Refusal = {
  message: "The request cannot be read.",
  remedy: "Check the address, headers and body of the request.",
};

/**
 * Converts an error that Fastify itself throws. Returns undefined for other errors. The message is replaced, because
 * Fastify's message may quote the input.
 */
export function frameworkError(thrown: unknown, bodyLimit: number): AppError | undefined {
  if (!(thrown instanceof Error) || !("statusCode" in thrown)) {
    return undefined;
  }
  const status = Number(thrown.statusCode);
  if (!(status >= 400 && status < 500)) {
    return undefined;
  }
  const code = "code" in thrown ? String(thrown.code) : "";
  const { message, remedy } = refusalOf(code, bodyLimit);
  if (status === 404 || code === "FST_ERR_MAX_PARAM_LENGTH") {
    return new AppError("resource_not_found", message, { remedy });
  }
  return new StatusError(status, "invalid_request", message, { remedy });
}

function refusalOf(code: string, bodyLimit: number): Refusal {
  if (code !== "FST_ERR_CTP_BODY_TOO_LARGE") {
    return REFUSALS[code] ?? UNREADABLE;
  }
  return {
    message: `The body is larger than the limit of ${bodyLimit} bytes.`,
    remedy: "Send less data at once, or ask the operator of this server for a higher limit.",
  };
}
