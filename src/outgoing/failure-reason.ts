import { ForbiddenDestination } from "./guarded-connector.ts";

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
 * Why a receiver could not be reached, for the owner of the endpoint. Uses only the code of the error, because its
 * message contains resolved addresses, which only the operator may see.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenDestination) {
    return error.message;
  }
  const code = codeOf(error);
  const reason =
    REASONS[code] ?? (CERTIFICATE.test(code) ? "The certificate is not valid" : "The connection failed");
  return `${reason} (${code}).`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return "unknown";
  }
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
