import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The answer has an address that works without a key. It is not compressed, because its size could reveal a part. */
    readonly givesLink?: boolean;
  }
}

/** Shorter answers fit into one packet anyway. */
const LENGTH_MIN = 1_000;
const TYPES = /^(?:application\/json|text\/javascript)\b/;
/** Higher levels take several times as long for a tenth less. */
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } };

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

const COMPRESS = {
  br: (content: string | Buffer) => toBrotli(content, BROTLI),
  gzip: (content: string | Buffer) => toGzip(content),
};

/**
 * Compresses the answers that only read, and whose whole text is known. Streams are left as they are, so that each event
 * arrives at once. So are the answers to writes, because some contain a new key beside a text of the caller.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const isText = typeof payload === "string" || Buffer.isBuffer(payload);
    if (!isText || payload.length < LENGTH_MIN || !mayCompress(request, reply)) {
      done(null, payload);
      return;
    }
    const others = reply.getHeader("vary");
    reply.header("vary", others === undefined ? "accept-encoding" : `${others}, accept-encoding`);
    const encoding = encodingOf(request.headers["accept-encoding"]);
    if (encoding === undefined) {
      done(null, payload);
      return;
    }
    reply.header("content-encoding", encoding).removeHeader("content-length");
    COMPRESS[encoding](payload).then((compressed) => done(null, compressed), done);
  });
}

function mayCompress({ method, routeOptions }: FastifyRequest, reply: FastifyReply): boolean {
  return (
    method === "GET" &&
    reply.statusCode === 200 &&
    routeOptions.config.givesLink !== true &&
    TYPES.test(String(reply.getHeader("content-type"))) &&
    !reply.hasHeader("content-encoding")
  );
}

function encodingOf(accepted: string | string[] | undefined): keyof typeof COMPRESS | undefined {
  if (accepted === undefined) {
    return undefined;
  }
  const names = String(accepted)
    .toLowerCase()
    .split(",")
    .map((each) => each.trim().split(/\s*;\s*q=\s*/))
    .filter(([, quality = "1"]) => Number(quality) > 0)
    .map(([name]) => name);
  return (["br", "gzip"] as const).find((each) => names.includes(each));
}
