import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiLimits } from "../api-deps.ts";
import { StatusError } from "./errors.ts";

/** Counts a request and refuses it if there were too many. */
export type RateLimit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Limits the requests per window: per key once the caller is known, otherwise per address, so that guessing keys is
 * limited as well. A caller with a valid key is not affected by others at its address. The counts are in the memory
 * of the process, because a count in the database would cost more than most requests. The library keeps the 5,000
 * most recent callers.
 */
export async function createRateLimit(
  server: FastifyInstance,
  { rateLimit: max, rateWindowMs: timeWindow }: Pick<ApiLimits, "rateLimit" | "rateWindowMs">,
): Promise<RateLimit> {
  if (max === 0) {
    return async () => undefined;
  }
  await server.register(rateLimit, { global: false });
  const keyGenerator = ({ caller }: FastifyRequest): string => caller?.id ?? "";
  const ofKey = server.createRateLimit({ max, timeWindow, keyGenerator });
  const ofAddress = server.createRateLimit({ max, timeWindow });
  return async (request, reply) => {
    const isKnown = request.caller !== undefined;
    const count = await (isKnown ? ofKey : ofAddress)(request);
    if (count.isAllowed) {
      return;
    }
    reply.headers(headersOf(isKnown ? "key" : "address", count));
    if (count.isExceeded) {
      throw tooMany(count);
    }
  };
}

interface RateCount {
  readonly max: number;
  readonly timeWindow: number;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
  readonly ttlInSeconds: number;
}

/** The headers of the draft standard, and those that older clients read. */
function headersOf(name: "key" | "address", count: RateCount): Record<string, string | number> {
  const { max, timeWindow, remaining, ttlInSeconds } = count;
  return {
    "ratelimit-policy": `"${name}";q=${max};w=${Math.ceil(timeWindow / 1_000)}`,
    ratelimit: `"${name}";r=${remaining};t=${ttlInSeconds}`,
    "x-ratelimit-limit": max,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": ttlInSeconds,
  };
}

function tooMany({ max, timeWindow, ttl }: RateCount): StatusError {
  const message = `You sent more than ${max} requests in ${timeWindow / 1_000} seconds.`;
  return new StatusError(429, "resource_unavailable", message, {
    retryAfterMs: ttl,
    remedy: "Wait as long as Retry-After says. Read events as a stream instead of polling.",
  });
}
