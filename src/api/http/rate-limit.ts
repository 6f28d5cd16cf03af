import type { FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Clock } from "../../core/basics/clock.ts";
import type { ApiLimits } from "./api-limits.ts";
import { StatusError } from "./errors.ts";

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

/** The state of a caller's bucket after a request. */
export interface Bucket {
  readonly isAllowed: boolean;
  /** Requests that would pass now. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again or, for a refused request, until the next one passes. */
  readonly resetMs: number;
}

interface Options {
  readonly max: number;
  readonly windowMs: number;
  readonly elapsedMs: () => number;
}

const CALLERS_MAX = 10_000;
/** Sums of fractions of milliseconds are not exact. Without it, the last request of a bucket might be refused. */
const ROUNDING_MS = 0.001;

/**
 * One bucket of `max` requests for each caller. It refills continuously, one request each `windowMs / max`
 * milliseconds (the generic cell rate algorithm): the whole state is the time at which the bucket is full again. A
 * refused request takes nothing, so a caller that keeps asking is not locked out.
 */
export class RequestBuckets {
  readonly #options: Options;
  readonly #fullAtMs = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes one request from the bucket if there is one. */
  take(caller: string): Bucket {
    const { elapsedMs, max, windowMs } = this.#options;
    const now = elapsedMs();
    const costMs = windowMs / max;
    const fullInMs = Math.max(0, (this.#fullAtMs.get(caller) ?? now) - now) + costMs;
    const leftMs = windowMs - fullInMs + ROUNDING_MS;
    if (leftMs < 0) {
      return { isAllowed: false, remaining: 0, resetMs: Math.ceil(-leftMs) };
    }
    this.#keep(caller, now + fullInMs);
    return { isAllowed: true, remaining: Math.floor(leftMs / costMs), resetMs: Math.ceil(fullInMs) };
  }

  /** Keeps the most recent callers. The bucket of a caller that was dropped is full, as at the first request. */
  #keep(caller: string, fullAtMs: number): void {
    this.#fullAtMs.delete(caller);
    this.#fullAtMs.set(caller, fullAtMs);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size > CALLERS_MAX && oldest !== undefined) {
      this.#fullAtMs.delete(oldest);
    }
  }
}

/** The holder of one IPv6 address usually has a whole network of this size. */
const OWN_IPV6_BITS = 64;

/** Identifies callers without a key: by their IPv4 address or by the network of their IPv6 address. */
export function callerNetwork(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") {
    return parsed.toString();
  }
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${parsed.toNormalizedString().replace(/%.*/, "")}/${OWN_IPV6_BITS}`,
  ).toString();
}
