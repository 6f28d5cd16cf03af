import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";
import { excessOf } from "./json-structure.ts";
import { invalid } from "./request-validation.ts";

/**
 * Bodies of the API are JSON and nothing else. An empty one is no body: public clients send
 * `Content-Type: application/json` with nothing behind it. Text that is not UTF-8 is refused, not mended. What is
 * compressed is refused unseen: a few bytes of it may unpack to more than memory holds.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", async ({ headers }) => {
    const encoding = headers["content-encoding"] ?? "identity";
    if (encoding.toLowerCase() !== "identity") throw compressed();
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(invalid([{ path: "", message: "must be UTF-8" }]));
    const excess = excessOf(body);
    if (excess !== undefined) return done(invalid([{ path: "", message: excess }]));
    return parse(request, body.toString(), done);
  });
}

function compressed(): StatusError {
  return new StatusError(415, "invalid_request", "Compressed bodies are not read here.", {
    remedy: "Send the body as it is, without Content-Encoding.",
  });
}
