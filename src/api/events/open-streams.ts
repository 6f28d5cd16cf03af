import type { FastifyReply, FastifyRequest } from "fastify";
import { callerOf } from "../auth/authentication.ts";
import { StatusError } from "../http/errors.ts";
import { EventStream, type StreamLimits } from "./event-stream.ts";

/** The open streams of this process. Limits the number per caller and ends all streams when the server closes. */
export class OpenStreams {
  readonly #limits: StreamLimits & { readonly streamsPerPrincipal: number };
  readonly #open = new Map<string, Set<EventStream>>();

  constructor(limits: StreamLimits & { readonly streamsPerPrincipal: number }) {
    this.#limits = limits;
  }

  /** Answers the request with a stream. Throws if the caller has the maximum number of open streams. */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const { id } = callerOf(request);
    const { streamsPerPrincipal } = this.#limits;
    const streams = this.#open.get(id) ?? new Set();
    if (streamsPerPrincipal > 0 && streams.size >= streamsPerPrincipal) {
      throw tooMany(streamsPerPrincipal);
    }
    const stream = new EventStream(request, reply, this.#limits);
    this.#open.set(id, streams.add(stream));
    stream.onceOver(() => this.#done(id, stream));
    return stream;
  }

  endAll(): void {
    for (const streams of this.#open.values()) {
      for (const stream of streams) {
        stream.end();
      }
    }
  }

  #done(id: string, stream: EventStream): void {
    const streams = this.#open.get(id);
    streams?.delete(stream);
    if (streams?.size === 0) {
      this.#open.delete(id);
    }
  }
}

function tooMany(limit: number): StatusError {
  return new StatusError(
    429,
    "resource_unavailable",
    `You have ${limit} open streams, which is the maximum.`,
    {
      retryAfterMs: 5_000,
      remedy: "Close a stream, or ask for pages with Accept: application/json.",
    },
  );
}
