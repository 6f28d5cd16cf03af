import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { StatusError } from "./errors.ts";
import { countedId } from "./rate-limit.ts";

/**
 * Bodies up to this length are not counted. Otherwise a stranger who sends long ones would keep out the short webhooks
 * that come from the same address, such as that of a proxy.
 */
const UNCOUNTED = 2 ** 16;

/**
 * Limits how much memory the bodies of one caller's requests take until they are answered. Otherwise a caller that
 * sends many long bodies, and never the end of them, would fill the memory of the server.
 */
export function limitRequestMemory(server: FastifyInstance, max: number): void {
  const memory = new CallerMemory(max);
  server.addHook("preParsing", (request, reply, payload, done) => {
    if (isShort(request)) {
      done();
      return;
    }
    const fits = (length: number) => length <= UNCOUNTED || memory.take(request, reply, length);
    const body = Readable.from(counted(payload, fits, max), { objectMode: false });
    // Fastify no longer listens once it has refused a body, and an unhandled error would end the process.
    body.on("error", () => undefined);
    // An expanded body has another length than its header says.
    if ("receivedEncodedLength" in payload) {
      Object.defineProperty(body, "receivedEncodedLength", { get: () => payload.receivedEncodedLength });
    }
    done(null, body);
  });
}

/** Whether the headers say that the body is not counted. A request with neither header has no body. */
function isShort({ headers, method }: FastifyRequest): boolean {
  const length = headers["content-length"];
  if (headers["content-encoding"] !== undefined) {
    return false;
  }
  if (length !== undefined) {
    return Number(length) <= UNCOUNTED;
  }
  return method === "GET" || headers["transfer-encoding"] === undefined;
}

/** The body is read only when the route reads it. */
async function* counted(
  payload: RequestPayload,
  fits: (length: number) => boolean,
  max: number,
): AsyncGenerator<Buffer> {
  let length = 0;
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (!fits(length)) {
        throw tooMuch(max);
      }
      yield chunk;
    }
  } finally {
    // The rest is dropped, because a caller that still sends does not read the answer.
    payload.resume();
  }
}

function tooMuch(max: number): StatusError {
  const message = `The bodies of your requests that are not answered yet have more than ${max / 2 ** 20} MiB.`;
  return new StatusError(429, "resource_unavailable", message, {
    retryAfterMs: 1_000,
    remedy: "Wait for the answers to your long requests before you send others.",
  });
}

/** Counts how much memory the requests of each caller take until they are over. */
export class CallerMemory {
  readonly #max: number;
  readonly #byCaller = new Map<string, number>();
  readonly #byResponse = new WeakMap<FastifyReply["raw"], number>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Sets what this request takes, unless it already takes more. Returns false if the caller's requests would take more
   * than the maximum. A caller's only request may take any amount.
   */
  take(request: FastifyRequest, { raw }: FastifyReply, length: number): boolean {
    const before = this.#byResponse.get(raw) ?? 0;
    if (length <= before || raw.destroyed) {
      return true;
    }
    const caller = countedId(request);
    const others = (this.#byCaller.get(caller) ?? 0) - before;
    if (others > 0 && others + length > this.#max) {
      return false;
    }
    this.#byCaller.set(caller, others + length);
    this.#byResponse.set(raw, length);
    if (before === 0) {
      raw.once("close", () => this.#release(caller, raw));
    }
    return true;
  }

  #release(caller: string, raw: FastifyReply["raw"]): void {
    const left = (this.#byCaller.get(caller) ?? 0) - (this.#byResponse.get(raw) ?? 0);
    if (left > 0) {
      this.#byCaller.set(caller, left);
    } else {
      this.#byCaller.delete(caller);
    }
  }
}
