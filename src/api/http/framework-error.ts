import { AppError } from "../../core/errors.ts";
import { StatusError } from "./errors.ts";

interface Refusal {
  readonly message: string;
  readonly remedy: string;
}

const SEND_JSON = "Send UTF-8 JSON with Content-Type: application/json.";

const REFUSALS: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    message: "Bodies of this content type are not read here.",
    remedy: SEND_JSON,
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    message: "The body is not as long as the Content-Length header says.",
    remedy: "Send the length of the body in bytes, not in characters.",
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { message: "The body is no JSON.", remedy: SEND_JSON },
  FST_ERR_CTP_EMPTY_JSON_BODY: { message: "The body is empty.", remedy: SEND_JSON },
  FST_ERR_BAD_URL: {
    message: "The address is malformed.",
    remedy: "Check the address: what stands behind a % must be two hexadecimal digits, and make UTF-8.",
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    message: "There is nothing at this address.",
    remedy: "Check the address: a part of it is longer than any id.",
  },
};
const UNREADABLE: Refusal = {
  message: "The request cannot be read.",
  remedy: "Check how the request is made: its address, headers and body.",
};

/** What Fastify itself refuses; undefined: a bug of ours. Its own words may quote the input, so they are not passed on. */
export function frameworkError(thrown: unknown, bodyLimit: number): AppError | undefined {
  if (!(thrown instanceof Error) || !("statusCode" in thrown)) return undefined;
  const status = Number(thrown.statusCode);
  if (!(status >= 400 && status < 500)) return undefined;
  const code = "code" in thrown ? String(thrown.code) : "";
  const { message, remedy } = refusalOf(code, bodyLimit);
  if (status === 404 || code === "FST_ERR_MAX_PARAM_LENGTH") {
    return new AppError("resource_not_found", message, { remedy });
  }
  return new StatusError(status, "invalid_request", message, { remedy });
}

function refusalOf(code: string, bodyLimit: number): Refusal {
  if (code !== "FST_ERR_CTP_BODY_TOO_LARGE") return REFUSALS[code] ?? UNREADABLE;
  return {
    message: `The body is larger than ${bodyLimit} bytes, which is the limit here.`,
    remedy: "Send less at once, or ask the operator of this server for a higher limit.",
  };
}
