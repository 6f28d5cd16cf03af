import type { FastifyRequest } from "fastify";

/** A stream is what is meant unless JSON alone is asked for. */
export function wantsPage({ headers: { accept = "" } }: FastifyRequest): boolean {
  return /application\/(json|\*)/i.test(accept) && !/text\/event-stream/i.test(accept);
}
