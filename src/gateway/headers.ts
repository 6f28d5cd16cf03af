import type { IncomingHttpHeaders } from "node:http";

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers of one connection, not of the message. `expect` and `host` are set again for the next connection. */
const HOP_BY_HOP = [
  ...["connection", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate"],
  ...["proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
];

/** Headers that identify the client. The gateway sets them instead. */
export const CREDENTIALS = [
  ...["authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"],
  // The key decides which account is charged.
  ...["openai-organization", "openai-project", "x-goog-user-project"],
];

/** Headers that would tell the sandbox which account is used, or redirect it. */
export const RESPONSE_CREDENTIALS = [
  ...["set-cookie", "www-authenticate", "location", "alt-svc", "refresh"],
  ...["openai-organization", "openai-project", "anthropic-organization-id"],
];

export function without(headers: Headers, dropped: readonly string[]): Record<string, string | string[]> {
  const named = String(headers.connection ?? "").split(",");
  const drop = new Set([...HOP_BY_HOP, ...dropped, ...named.map((name) => name.trim().toLowerCase())]);
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || drop.has(name.toLowerCase())) {
      return [];
    }
    return [[name, typeof value === "string" ? value : [...value]] as const];
  });
  return Object.fromEntries(kept);
}

export function only(headers: IncomingHttpHeaders, kept: readonly string[]): Record<string, string> {
  const found = kept.map((name) => [name, headers[name]] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

export function contentTypeOf(headers: Headers): string {
  const type = headers["content-type"];
  return typeof type === "string" ? (type.split(";")[0] ?? "").trim().toLowerCase() : "";
}
