import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { lengthOf } from "../../core/basics/clean-text.ts";
import type { RunStore } from "../../core/ports/stores/run-store.ts";
import { CONVERSATION_LENGTH_MAX } from "../../core/requests/conversations/read-conversation.ts";
import { StatusError } from "./errors.ts";
import { CallerMemory } from "./request-memory.ts";

type Log = Pick<RunStore, "readEvents">;

/** What a response that is sent in pieces has in memory. */
const PIECE_LENGTH = 2 ** 20;

/**
 * Limits how much memory the responses of one caller take until they are sent. A caller that reads what it asks for
 * never reaches the limit. One that sends many requests for long responses, and reads none, is refused before it fills
 * the memory of the server.
 */
export class ResponseMemory {
  readonly #max: number;
  readonly #memory: CallerMemory;

  constructor(max: number) {
    this.#max = max;
    this.#memory = new CallerMemory(max);
  }

  /** Counts the responses of all routes of `app` that change nothing. A refused write would seem not to be done. */
  watch(app: FastifyInstance): void {
    app.addHook("onSend", (request, reply, payload, done) => {
      if (request.method === "GET" && reply.statusCode < 400) {
        this.#count(request, reply, lengthOfPayload(payload));
      }
      done(null, payload);
    });
  }

  /** Counts the events of a conversation while they are read, because all of them wait in memory for the last one. */
  counted(log: Log, request: FastifyRequest, reply: FastifyReply): Log {
    let length = 0;
    return {
      readEvents: async (...args) => {
        const events = await log.readEvents(...args);
        length += events.reduce((sum, { body }) => sum + lengthOf(body), 0);
        // The conversation leaves out what is longer.
        this.#count(request, reply, Math.min(length, CONVERSATION_LENGTH_MAX));
        return events;
      },
    };
  }

  #count(request: FastifyRequest, reply: FastifyReply, length: number): void {
    if (!this.#memory.take(request, reply, length)) {
      throw tooMuch(this.#max);
    }
  }
}

function lengthOfPayload(payload: unknown): number {
  if (payload === null || payload === undefined) {
    return 0;
  }
  return typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : PIECE_LENGTH;
}

function tooMuch(max: number): StatusError {
  const message = `Your responses that are not read yet have more than ${max / 2 ** 20} MiB.`;
  return new StatusError(429, "resource_unavailable", message, {
    retryAfterMs: 1_000,
    remedy: "Read each response before you ask for many others, or ask for shorter pages.",
  });
}
