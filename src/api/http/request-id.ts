import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Short, without characters that could break a log line, a header or a page. */
const SAFE = /^[A-Za-z0-9._:/+=~-]{1,128}$/;

/** Returns the caller's own id of the request if it is valid, otherwise a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const id = headers["x-request-id"];
  return typeof id === "string" && SAFE.test(id) ? id : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}

/** Returns the path without the query, which may contain private data. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
