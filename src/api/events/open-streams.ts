import type { FastifyReply, FastifyRequest } from "fastify";
import { callerOf } from "../auth/authentication.ts";
import { StatusError } from "../http/errors.ts";
import { EventStream, type StreamLimits } from "./event-stream.ts";

/** Something that the server ends when it closes. */
interface Held {
  end(): void;
}

/** The open streams and waiting requests of this process. Limits the number per caller and ends all when the server closes. */
export class OpenStreams {
  readonly #limits: StreamLimits & { readonly streamsPerPrincipal: number };
  readonly #open = new Map<string, Set<Held>>();

  constructor(limits: StreamLimits & { readonly streamsPerPrincipal: number }) {
    this.#limits = limits;
  }

  /** Answers the request with a stream. Throws if the caller has the maximum number of open streams. */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const held: { end(): void } = { end: () => undefined };
    const release = this.hold(request, held);
    const stream = new EventStream(request, reply, this.#limits);
    held.end = () => stream.end();
    stream.onceOver(release);
    return stream;
  }

  /** Counts what is not answered yet as an open stream, until it is released. */
  hold(request: FastifyRequest, held: Held): () => void {
    const { id } = callerOf(request);
    const { streamsPerPrincipal } = this.#limits;
    const all = this.#open.get(id) ?? new Set();
    if (streamsPerPrincipal > 0 && all.size >= streamsPerPrincipal) {
      throw tooMany(streamsPerPrincipal);
    }
    this.#open.set(id, all.add(held));
    return () => this.#done(id, held);
  }

  endAll(): void {
    for (const streams of this.#open.values()) {
      for (const stream of streams) {
        stream.end();
      }
    }
  }

  #done(id: string, held: Held): void {
    const streams = this.#open.get(id);
    streams?.delete(held);
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
