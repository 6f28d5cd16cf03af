import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/basics/clock.ts";
import type { ApiLimits } from "./api-limits.ts";
import { callerNetwork } from "./caller-network.ts";
import { StatusError } from "./errors.ts";
import { type Bucket, RequestBuckets } from "./request-buckets.ts";

/** Counts a request and refuses it if there were too many. */
export type RateLimit = (request: FastifyRequest, reply: FastifyReply) => void;

type Limits = Pick<ApiLimits, "rateLimit" | "rateWindowMs">;
type Counted = "principal" | "guest" | "address";

/**
 * Limits the requests per principal once the caller is known, otherwise per address, so that guessing keys is limited
 * as well. A caller with a valid key is not affected by others at its address. The counts are in the memory of the
 * process, because a count in the database would cost more than most requests.
 */
export function createRateLimit(clock: Pick<Clock, "elapsedMs">, limits: Limits): RateLimit {
  const { rateLimit: max, rateWindowMs: windowMs } = limits;
  if (max === 0) {
    return () => undefined;
  }
  const buckets = new RequestBuckets({ max, windowMs, elapsedMs: () => clock.elapsedMs() });
  return (request, reply) => {
    const counted = countedBy(request);
    const bucket = buckets.take(countedId(request));
    reply.headers(headersOf(counted, bucket, limits));
    if (!bucket.isAllowed) {
      throw tooMany(bucket, limits);
    }
  };
}

/** Identifies whose requests are counted together. */
export function countedId(request: FastifyRequest): string {
  return `${countedBy(request)} ${request.caller?.id ?? callerNetwork(request.ip)}`;
}

function countedBy({ caller }: FastifyRequest): Counted {
  if (caller === undefined) {
    return "address";
  }
  return caller.holder === undefined ? "guest" : "principal";
}

/** The headers of the draft standard, and those that older clients read. */
function headersOf(
  counted: Counted,
  { remaining, resetMs }: Bucket,
  { rateLimit, rateWindowMs }: Limits,
): Record<string, string | number> {
  const seconds = Math.ceil(resetMs / 1_000);
  return {
    "ratelimit-policy": `"${counted}";q=${rateLimit};w=${Math.ceil(rateWindowMs / 1_000)}`,
    ratelimit: `"${counted}";r=${remaining};t=${seconds}`,
    "x-ratelimit-limit": rateLimit,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": seconds,
  };
}

function tooMany({ resetMs }: Bucket, { rateLimit, rateWindowMs }: Limits): StatusError {
  const message = `You sent more than ${rateLimit} requests in ${rateWindowMs / 1_000} seconds.`;
  return new StatusError(429, "resource_unavailable", message, {
    retryAfterMs: resetMs,
    remedy: "Wait as long as Retry-After says. Read events as a stream instead of polling.",
  });
}
