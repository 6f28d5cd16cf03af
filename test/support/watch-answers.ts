import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { type AnswerJudge, jsonBody } from "./openapi-answers.ts";

/**
 * All answers and events of a server, checked against the OpenAPI document and read by a strict client. Of answers that
 * are not JSON the status and the content type are checked.
 */
export interface WatchedAnswers {
  /** Throws if an answer was wrong. */
  verify(): void;
}

export function watchAnswers(server: FastifyInstance, judgeOf: () => AnswerJudge): WatchedAnswers {
  const mismatches: string[] = [];
  /** Many readers get the same events, and each event is judged once. */
  const events = new Set<string>();
  // A worker has no API and no document.
  if (!server.hasDecorator("swagger")) {
    return { verify: () => undefined };
  }
  server.server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    // The framework shortens the path for routes below a prefix.
    const { method = "", url: path = "" } = request;
    const headerOf = keepHeaders(response);
    keepBody(response, (sent) => {
      const contentType = headerOf("content-type");
      if (contentType === undefined) {
        return;
      }
      const encoding = contentType.startsWith("application/json") ? headerOf("content-encoding") : undefined;
      const bytes = DECODE[encoding ?? ""]?.(sent) ?? sent;
      const judge = judgeOf();
      for (const event of eventsIn(contentType, bytes)) {
        if (!events.has(event)) {
          mismatches.push(judge.eventMismatch(JSON.parse(event)) ?? "");
          events.add(event);
        }
      }
      // The document describes HEAD as GET, and the answer has no body to check.
      // No body, and no operation: what a browser asks before a request of another site.
      const isPreflight = method === "OPTIONS" && response.statusCode === 204;
      if (method !== "HEAD" && !isPreflight) {
        const body = jsonBody(contentType, bytes.toString());
        const answer = { method, path, status: response.statusCode, contentType, body };
        mismatches.push(judge.mismatch(answer) ?? "");
      }
    });
  });
  return {
    verify: () => {
      const reasons = mismatches.filter((reason) => reason !== "");
      if (reasons.length > 0) {
        throw new Error(`Answers that break the OpenAPI document or the contract:\n${reasons.join("\n")}`);
      }
    },
  };
}

const DECODE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

/** The events of a stream or of a transcript, as JSON. */
function eventsIn(contentType: string, bytes: Buffer): readonly string[] {
  if (contentType.startsWith("text/event-stream")) {
    return Array.from(bytes.toString().matchAll(/^data: (.*)$/gm), ([, data = ""]) => data);
  }
  return contentType.startsWith("application/x-ndjson") ? bytes.toString().split("\n").filter(Boolean) : [];
}

/**
 * Returns the headers of the answer. The framework passes them to `writeHead`, and Node then does not show them in
 * `getHeader`; for a stream it sets them first. Undefined: nothing was sent, because the caller has gone or was answered
 * below the framework.
 */
function keepHeaders(response: ServerResponse): (name: string) => string | undefined {
  const original = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  let written: Headers | undefined;
  Reflect.set(response, "writeHead", (...args: unknown[]) => {
    const headers = Object.entries<string>(Object(args.at(-1))).filter(([name]) => !name.startsWith(":"));
    written = new Headers(headers.map(([name, value]): [string, string] => [name, String(value)]));
    return original(...args);
  });
  return (name) => written && (written.get(name) ?? String(response.getHeader(name) ?? ""));
}

/** Every answer goes through `write` and `end`. */
function keepBody(response: ServerResponse, whenDone: (bytes: Buffer) => void): void {
  const parts: Buffer[] = [];
  for (const name of ["write", "end"] as const) {
    const original = response[name].bind(response) as (...args: unknown[]) => unknown;
    Reflect.set(response, name, (...args: unknown[]) => {
      const [part, encoding] = args;
      if (typeof part === "string") {
        parts.push(Buffer.from(part, encodingOf(encoding)));
      } else if (part instanceof Uint8Array) {
        parts.push(Buffer.from(part));
      }
      return original(...args);
    });
  }
  response.once("finish", () => whenDone(Buffer.concat(parts)));
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
