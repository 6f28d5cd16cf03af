import type { FastifyReply } from "fastify";

/** Refuses a delivery. Platforms look at the status; the rest is for who reads their history of deliveries. */
export function sendProblem(reply: FastifyReply, status: number, title: string): FastifyReply {
  const body = { type: "about:blank", title, status, error: title };
  return reply.code(status).type("application/problem+json").send(JSON.stringify(body));
}
