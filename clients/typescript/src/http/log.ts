import { APIError, type ErrandError } from "../errors.ts";

export type LogLevel = "off" | "info" | "debug";

/** What the client logs: no key, no header, no query and no body. */
export interface RequestLog {
  requested(request: string, retries: number): void;
  answered(request: string, response: Response): void;
  failed(request: string, error: ErrandError, pauseMs: number | undefined): void;
}

/** A level that is unknown is off, as another program may have set the variable. */
export function loggerOf(level: string | undefined): RequestLog {
  // biome-ignore lint/suspicious/noConsole: the one way to write a log in every runtime
  const write = (line: string) => console.error(`[errand] ${line}`);
  const info = level === "info" || level === "debug" ? write : ignored;
  const debug = level === "debug" ? write : ignored;
  return {
    requested: (request, retries) => debug(retries === 0 ? request : `${request} (retry ${retries})`),
    answered: (request, { status, headers }) =>
      info(`${request}: status ${status}, request ${headers.get("x-request-id") ?? "none"}`),
    failed: (request, error, pauseMs) => {
      const kind = error instanceof APIError ? `status ${error.status}` : error.name;
      info(`${request} failed: ${kind}, ${pauseMs === undefined ? "no retry" : `retry in ${pauseMs} ms`}`);
    },
  };
}

function ignored(): void {}
