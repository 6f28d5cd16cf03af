import type { FastifyRequest } from "fastify";
import { CLAIMED_SOURCES, type RunSource } from "../../core/model/runs/sources.ts";

/**
 * Where a request to the API comes from. Programs send their key in a header, and may name themselves. The pages have
 * only a cookie, which is ignored beside a key.
 */
export function sourceOf({ headers }: Pick<FastifyRequest, "headers">): RunSource {
  if (headers.authorization === undefined) {
    return "WEB_APP";
  }
  const claimed = String(headers["x-run-source"] ?? "").toUpperCase();
  return [...CLAIMED_SOURCES].find((source) => source === claimed) ?? "API";
}
