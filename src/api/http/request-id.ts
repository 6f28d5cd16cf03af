import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Short, and nothing in it that could break out of a log line, a header or a page. */
const SANE = /^[A-Za-z0-9._:/+=~-]{1,128}$/;

/** The caller's own id for the request where it is sane, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && SANE.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}

/** Query strings may hold what the caller would not have logged or echoed. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
