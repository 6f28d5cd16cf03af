import type { RequestError } from "@agentclientprotocol/sdk/unstable";
import { z } from "zod";
import { AppError, type ErrorCode } from "../../core/basics/errors.ts";

/** An agent may put a whole web page into its message. The status of a run keeps only this much. */
const MAX_MESSAGE_CHARS = 2_000;

/** ACP's code for "log in first". Agents use it for a model that rejects the key. */
const AUTHENTICATION_REQUIRED = -32_000;

export const KEY_REMEDY = "Check the agent's key and that it may use this model.";

const details = z.looseObject({
  errorKind: z.string().optional().catch(undefined),
  status: z.coerce.number().optional().catch(undefined),
  statusCode: z.coerce.number().optional().catch(undefined),
  code: z.union([z.number(), z.string()]).optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  details: z.string().optional().catch(undefined),
});
type Details = z.infer<typeof details>;

/**
 * The `AppError` for an agent's JSON-RPC error. Agents report the HTTP status of the model in four ways: as the code
 * of the error (Gemini), in its data, as a name in its data (Claude), or only in the message.
 */
export function toAppError(error: RequestError): AppError {
  const data = details.safeParse(error.data).data ?? {};
  const message = messageOf(error, data);
  const code = codeOf(error.code, data, message);
  if (code === undefined) {
    return new AppError("internal_error", message, { cause: error, reason: "agent_error" });
  }
  const remedy = code === "external_authentication_required" ? { remedy: KEY_REMEDY } : {};
  return new AppError(code, message, { cause: error, ...remedy });
}

function messageOf(error: RequestError, data: Details): string {
  const detail = data.details ?? data.message;
  const message = detail && !error.message.includes(detail) ? `${error.message}: ${detail}` : error.message;
  return bounded(message.trim() || "The agent reported an error without a message.");
}

export function bounded(message: string): string {
  return message.length <= MAX_MESSAGE_CHARS ? message : `${message.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}

/** Undefined: the error is not about the model. */
function codeOf(rpcCode: number, data: Details, message: string): ErrorCode | undefined {
  if (rpcCode === AUTHENTICATION_REQUIRED) {
    return "external_authentication_required";
  }
  const kind = `${data.errorKind ?? ""} ${data.code ?? ""} ${message}`;
  if (saysQuotaIsGone(kind)) {
    return "insufficient_credits";
  }
  const status = statusOf(rpcCode, data, message);
  return status === undefined ? undefined : codeOfStatus(status);
}

/** A 429 means a rate limit or an exhausted quota. Only the text tells which. */
export function saysQuotaIsGone(message: string): boolean {
  return /insufficient_quota|billing|credit balance|exceeded your current quota|out of credits/i.test(
    message,
  );
}

function statusOf(rpcCode: number, data: Details, message: string): number | undefined {
  const reportedStatus = [rpcCode, data.status, data.statusCode, Number(data.code)].find(isHttpError);
  if (reportedStatus !== undefined) {
    return reportedStatus;
  }
  if (/rate_limit|overloaded/i.test(data.errorKind ?? "")) {
    return 429;
  }
  const inMessage = /\b(?:http|status)(?: code)?[ :=]*([45]\d\d)\b/i.exec(message)?.[1];
  return inMessage === undefined ? undefined : Number(inMessage);
}

function isHttpError(status: number | undefined): status is number {
  return status !== undefined && status >= 400 && status < 600;
}

/** Undefined: the status does not tell whose fault it is. */
export function codeOfStatus(status: number): ErrorCode | undefined {
  if (status === 401 || status === 403) {
    return "external_authentication_required";
  }
  if (status === 402) {
    return "insufficient_credits";
  }
  return status === 429 || status >= 500 ? "resource_unavailable" : undefined;
}
