import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from "fastify";
import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";
import type { ReceivedEvent } from "../core/ports/thread-adapter.ts";

export interface RawRequest {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

export interface WebhookDeps {
  readonly arrivals: WebhookArrivals;
  readonly log: Log;
}

/** What is particular to the webhook of one adapter. */
interface Webhook<Received> {
  readonly path: string;
  readonly bodyLimitBytes: number;
  readonly arrivals: WebhookArrivals;
  /** Gets requests without a valid signature. */
  readonly forged: RefusedRequests;
  /** Gets the requests that the server refuses before their signature is checked, for example for their length. */
  readonly refused: RefusedRequests;
  /** The kind of requests that the platform does not sign. They count neither as verified nor as forged. */
  readonly unsigned?: string;
  /** Checks the signature before it parses anything. The kind of a request without a valid one is `forged`. */
  read(request: RawRequest): Promise<Received> | Received;
  /** Stores an event, and returns the answer or why there is none. If it throws, the platform should deliver again. */
  take(received: Received, requestId: string): Promise<Answer | DeliveryProblem>;
  logStored(facts: Record<string, unknown>): void;
  logNotStored(facts: Record<string, unknown>): void;
}

/** The platform gets `body` with the acknowledgement. `stored`: what the log says about a stored event. */
export interface Answer {
  readonly status?: number;
  readonly body?: object;
  readonly stored?: { readonly deliveryId: string; readonly name: string; readonly isNew: boolean };
}

/**
 * Why a delivery is refused. Platforms read only the status; the rest is for operators who read the platform's delivery
 * history.
 */
export class DeliveryProblem {
  readonly #status: number;
  readonly #body: string;

  constructor(status: number, title: string) {
    this.#status = status;
    this.#body = JSON.stringify({ type: "about:blank", title, status, error: title });
  }

  sendBy(reply: FastifyReply): FastifyReply {
    return reply.code(this.#status).type("application/problem+json").send(this.#body);
  }
}

const NOT_STORED = new DeliveryProblem(503, "The event could not be stored. Deliver it again.");

/** Serves the webhook of an adapter, in a scope of its own, so that only these bodies stay unparsed. */
export function webhookRoute<
  Received extends { readonly kind: string; readonly event?: Partial<ReceivedEvent> },
>(webhook: Webhook<Received>): FastifyPluginAsync {
  const { bodyLimitBytes: bodyLimit, path } = webhook;
  return async (server) => {
    keepBodiesRaw(server, webhook.refused);
    server.post(path, { bodyLimit }, async (request, reply) => {
      const { headers, id: requestId } = request;
      reply.header("x-request-id", requestId);
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const received = await webhook.read({ body, headers });
      if (received.kind === "forged") {
        webhook.arrivals.note("forged");
        webhook.forged.add(requestId);
      } else if (received.kind !== webhook.unsigned) {
        webhook.arrivals.note("verified");
      }
      try {
        const answer = await webhook.take(received, requestId);
        if (answer instanceof DeliveryProblem) {
          return answer.sendBy(reply);
        }
        if (answer.stored !== undefined) {
          webhook.logStored({ requestId, ...answer.stored });
        }
        return reply.code(answer.status ?? 200).send(answer.body);
      } catch (error) {
        const { deliveryId, name } = received.event ?? {};
        webhook.logNotStored({ requestId, deliveryId, name, error });
        return NOT_STORED.sendBy(reply);
      }
    });
  };
}

function keepBodiesRaw(server: FastifyInstance, refused: RefusedRequests): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  server.addHook("onError", (request, _reply, { code }, done) => {
    refused.add(request.id, code);
    done();
  });
}

/** What has come to the webhook address of an adapter since the start of this process, for the doctor. */
export class WebhookArrivals {
  #verifiedAt: Date | undefined;
  #forged = 0;

  /** The last request with a valid signature. */
  get verifiedAt(): Date | undefined {
    return this.#verifiedAt;
  }

  /** Requests with a wrong signature since the last one with a valid signature. */
  get forged(): number {
    return this.#forged;
  }

  note(request: "verified" | "forged"): void {
    if (request === "forged") {
      this.#forged += 1;
      return;
    }
    this.#verifiedAt = new Date();
    this.#forged = 0;
  }
}

const PERIOD_MS = 60_000;

/**
 * Logs refused requests of one kind, at most one line a minute with their number. One line for each would let a
 * stranger fill the disk and take the processor time of the log.
 */
export class RefusedRequests {
  readonly #log: Log;
  readonly #message: string;
  readonly #elapsedMs: () => number;
  #count = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log, message: string, elapsedMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#message = message;
    this.#elapsedMs = elapsedMs;
  }

  /** `requestId`: the request that the line names. `code`: why this one was refused, if the message does not say it. */
  add(requestId: string, code?: string): void {
    this.#count += 1;
    const nowMs = this.#elapsedMs();
    if (nowMs - this.#loggedAtMs < PERIOD_MS) {
      return;
    }
    this.#log.warn(this.#message, defined({ requestId, count: this.#count, code }));
    this.#count = 0;
    this.#loggedAtMs = nowMs;
  }
}
