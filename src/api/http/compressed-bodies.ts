import { Readable } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import type { FastifyInstance, RequestPayload } from "fastify";
import { bodyTooLarge, StatusError } from "./errors.ts";

const API = "/api/";

/**
 * Expands bodies in gzip, up to the limit of the route: a few bytes may unpack to more than fits into memory. Must be
 * called before the memory of requests is limited, so that the expanded length counts.
 */
export function expandBodies(server: FastifyInstance): void {
  server.addHook("preParsing", ({ headers, routeOptions, url }, reply, payload, done) => {
    const encoding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
    if (!url.startsWith(API) || encoding === "identity") {
      done();
      return;
    }
    if (encoding !== "gzip") {
      reply.header("accept-encoding", "gzip");
      done(unsupported());
      return;
    }
    const gunzip = createGunzip();
    const body = Readable.from(expanded(payload, gunzip, routeOptions.bodyLimit), { objectMode: false });
    // Fastify no longer listens once it has refused a body, and an unhandled error would end the process.
    body.on("error", () => undefined);
    reply.raw.once("close", () => body.destroy());
    // Fastify compares this with Content-Length.
    const encoded = Object.defineProperty(body, "receivedEncodedLength", { get: () => gunzip.bytesWritten });
    done(null, encoded);
  });
}

async function* expanded(payload: RequestPayload, gunzip: Gunzip, limit: number): AsyncGenerator<Buffer> {
  let length = 0;
  payload.once("error", () => gunzip.destroy());
  payload.pipe(gunzip);
  try {
    for await (const chunk of gunzip) {
      length += chunk.length;
      if (length > limit) {
        throw bodyTooLarge(limit);
      }
      yield chunk;
    }
  } catch (error) {
    throw error instanceof StatusError ? error : notGzip();
  } finally {
    payload.unpipe(gunzip);
    gunzip.destroy();
    // The rest is dropped, because a caller that still sends does not read the answer.
    payload.resume();
  }
}

function unsupported(): StatusError {
  return new StatusError(415, "invalid_request", "Bodies may be compressed with gzip only.", {
    remedy: "Send the body with Content-Encoding: gzip, or without Content-Encoding.",
  });
}

function notGzip(): StatusError {
  return new StatusError(400, "invalid_request", "The body is not complete gzip.", {
    remedy: "Compress the whole body with gzip, or leave Content-Encoding out.",
  });
}
