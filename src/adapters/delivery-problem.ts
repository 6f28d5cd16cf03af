import type { FastifyReply } from "fastify";

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
