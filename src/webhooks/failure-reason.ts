import { ForbiddenDestination } from "../network-policy/guarded-connector.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "The host name cannot be resolved",
  EAI_AGAIN: "The host name cannot be resolved now",
  ECONNREFUSED: "The connection was refused",
  ECONNRESET: "The connection was cut off",
  UND_ERR_SOCKET: "The connection was cut off",
  UND_ERR_CONNECT_TIMEOUT: "The connection could not be made in time",
  UND_ERR_HEADERS_OVERFLOW: "The head of the answer is too large",
  HTTPParserError: "The answer is not HTTP",
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_/;

/**
 * Why a receiver could not be asked, for whoever owns the endpoint. Made of the error's code alone: its message names
 * addresses that names resolve to, which is nobody's business but the operator's.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenDestination) return error.message;
  const code = codeOf(error);
  const reason =
    REASONS[code] ?? (CERTIFICATE.test(code) ? "The certificate does not hold" : "The connection failed");
  return `${reason} (${code}).`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
