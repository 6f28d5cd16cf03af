import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";
import { excessOf } from "./json-structure.ts";
import { invalid } from "./request-validation.ts";

/**
 * Accepts only JSON bodies. An empty body is absent, because public clients send `Content-Type: application/json`
 * without a body. Text that is not UTF-8 is refused. Compressed bodies are refused unread, because a few bytes may
 * unpack to more than fits into memory.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", async ({ headers }) => {
    const encoding = headers["content-encoding"] ?? "identity";
    if (encoding.toLowerCase() !== "identity") {
      throw compressed();
    }
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (body.length === 0) {
      return done(null, undefined);
    }
    if (!isUtf8(body)) {
      return done(invalid([{ path: "", message: "must be UTF-8" }]));
    }
    const excess = excessOf(body);
    if (excess !== undefined) {
      return done(invalid([{ path: "", message: excess }]));
    }
    return parse(request, body.toString(), done);
  });
}

function compressed(): StatusError {
  return new StatusError(415, "invalid_request", "Compressed bodies are not supported.", {
    remedy: "Send the body without Content-Encoding.",
  });
}
