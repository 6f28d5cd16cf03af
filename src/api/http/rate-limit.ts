import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiLimits } from "../api-deps.ts";
import { StatusError } from "./errors.ts";

/** Counts a request, and refuses it when there were too many. */
export type RateLimit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * So many requests in each window: of a key, once it is known whose it is, else of the address, so that guessing keys
 * is counted too. Who has a valid key is never kept waiting for what others at the same address do. Counted in the
 * memory of this process, because a count in the database would cost more than most requests; the library keeps
 * those 5,000 that were seen last.
 */
export async function createRateLimit(
  server: FastifyInstance,
  { rateLimit: max, rateWindowMs: timeWindow }: Pick<ApiLimits, "rateLimit" | "rateWindowMs">,
): Promise<RateLimit> {
  if (max === 0) return async () => undefined;
  await server.register(rateLimit, { global: false });
  const keyGenerator = ({ caller }: FastifyRequest): string => caller?.id ?? "";
  const ofKey = server.createRateLimit({ max, timeWindow, keyGenerator });
  const ofAddress = server.createRateLimit({ max, timeWindow });
  return async (request, reply) => {
    const isKnown = request.caller !== undefined;
    const counted = await (isKnown ? ofKey : ofAddress)(request);
    if (counted.isAllowed) return;
    reply.headers(headersOf(isKnown ? "key" : "address", counted));
    if (counted.isExceeded) throw tooMany(counted);
  };
}

interface Counted {
  readonly max: number;
  readonly timeWindow: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly ttl: number;
  readonly ttlInSeconds: number;
}

/** The standard draft's two, and what older clients look for. */
function headersOf(name: "key" | "address", counted: Counted): Record<string, string | number> {
  const { max, timeWindow, remaining, ttlInSeconds } = counted;
  return {
    "ratelimit-policy": `"${name}";q=${max};w=${Math.ceil(timeWindow / 1_000)}`,
    ratelimit: `"${name}";r=${remaining};t=${ttlInSeconds}`,
    "x-ratelimit-limit": max,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": ttlInSeconds,
  };
}

function tooMany({ max, timeWindow, ttl }: Counted): StatusError {
  const message = `These are more than ${max} requests in ${timeWindow / 1_000} seconds.`;
  return new StatusError(429, "resource_unavailable", message, {
    retryAfterMs: ttl,
    remedy: "Wait as long as Retry-After says. Read events as a stream rather than asking again and again.",
  });
}
