import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";

const MINUTE_MS = 60_000;
const LIMITS = [
  { max: 80, withinMs: MINUTE_MS },
  { max: 500, withinMs: 60 * MINUTE_MS },
] as const;
/** Writes of comments, reactions, issues and pull requests. */
const CONTENT = /^\/repos\/[^/]+\/[^/]+\/(?:issues|pulls)(?:\/|$)/;

/** GitHub's secondary limits of an installation. emulate has none. */
export class GithubLimits {
  #writes: readonly number[] = [];

  /** Undefined: the request is within the limits. A refused request does not count. */
  refusal({ method, path }: FrontRequest): FrontAnswer | undefined {
    if (method === "GET" || !CONTENT.test(path)) {
      return undefined;
    }
    const now = Date.now();
    for (const { max, withinMs } of LIMITS) {
      const oldest = this.#writes.at(-max) ?? 0;
      if (oldest > now - withinMs) {
        return limited(403, "You have exceeded a secondary rate limit.", (oldest + withinMs - now) / 1000);
      }
    }
    this.#writes = [...this.#writes, now].slice(-LIMITS[1].max);
    return undefined;
  }
}

export function limited(status: number, message: string, retryAfterSeconds: number): FrontAnswer {
  return jsonAnswer(status, { message }, { "retry-after": String(Math.ceil(retryAfterSeconds)) });
}
