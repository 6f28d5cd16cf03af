import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { AnswerJudge, type OpenapiDocument } from "./openapi-answers.ts";

/** All JSON answers of a server, checked against its own document. */
export interface WatchedAnswers {
  /** Throws if an answer differed from the document. */
  verify(): void;
}

export function watchAnswers(server: FastifyInstance): WatchedAnswers {
  const mismatches: string[] = [];
  let judge: AnswerJudge | undefined;
  // A worker has no API and no document.
  if (!server.hasDecorator("swagger")) {
    return { verify: () => undefined };
  }
  server.server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    // The framework shortens the path for routes below a prefix.
    const { method = "", url: path = "" } = request;
    keepBody(response, (bytes) => {
      const contentType = String(response.getHeader("content-type") ?? "");
      if (!/[/+]json\b/.test(contentType) || method === "HEAD") {
        return;
      }
      judge ??= new AnswerJudge(server.swagger() as unknown as OpenapiDocument);
      const body: unknown = JSON.parse(bytes.toString());
      const mismatch = judge.mismatch({
        method,
        path,
        status: response.statusCode,
        contentType,
        body,
      });
      if (mismatch !== undefined) {
        mismatches.push(mismatch);
      }
    });
  });
  return {
    verify: () => {
      if (mismatches.length === 0) {
        return;
      }
      throw new Error(`Answers that the OpenAPI document does not allow:\n${mismatches.join("\n")}`);
    },
  };
}

/** Every answer goes through `write` and `end`. */
function keepBody(response: ServerResponse, whenDone: (bytes: Buffer) => void): void {
  const parts: Buffer[] = [];
  for (const name of ["write", "end"] as const) {
    const original = response[name].bind(response) as (...given: unknown[]) => unknown;
    Reflect.set(response, name, (...given: unknown[]) => {
      const [part, encoding] = given;
      if (typeof part === "string") {
        parts.push(Buffer.from(part, encodingOf(encoding)));
      } else if (part instanceof Uint8Array) {
        parts.push(Buffer.from(part));
      }
      return original(...given);
    });
  }
  response.once("finish", () => whenDone(Buffer.concat(parts)));
}

function encodingOf(given: unknown): BufferEncoding {
  return typeof given === "string" && Buffer.isEncoding(given) ? given : "utf8";
}
