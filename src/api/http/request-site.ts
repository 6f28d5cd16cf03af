import type { FastifyRequest } from "fastify";

/** Whether a page of another server made the request, be it one of the same domain. Old browsers do not tell. */
export function isFromOtherSite({ headers }: Pick<FastifyRequest, "headers">): boolean {
  const site = headers["sec-fetch-site"];
  return site === "cross-site" || site === "same-site";
}
