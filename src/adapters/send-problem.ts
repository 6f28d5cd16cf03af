import type { FastifyReply } from "fastify";

/**
 * Refuses a delivery. Platforms read only the status; the rest is for operators who read the platform's delivery
 * history.
 */
export function sendProblem(reply: FastifyReply, status: number, title: string): FastifyReply {
  const body = { type: "about:blank", title, status, error: title };
  return reply.code(status).type("application/problem+json").send(JSON.stringify(body));
}
