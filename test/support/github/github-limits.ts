import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";

const MINUTE_MS = 60_000;
/** Comments, reviews, issues and pull requests. Edits and reactions are not among them. */
const CONTENT = /^\/repos\/[^/]+\/[^/]+\/(?:issues|pulls)(?:\/(?!.*\/reactions$)|$)/;

type Costs = (request: FrontRequest) => number;
const content: Costs = ({ method, path }) => (method === "POST" && CONTENT.test(path) ? 1 : 0);
const points: Costs = ({ method }) => (method === "GET" ? 1 : 5);
const LIMITS = [
  { costs: content, max: 80, withinMs: MINUTE_MS },
  { costs: content, max: 500, withinMs: 60 * MINUTE_MS },
  { costs: points, max: 900, withinMs: MINUTE_MS },
] as const;

/**
 * GitHub's secondary limits of an installation. emulate has none.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
export class GithubLimits {
  #requests: readonly { readonly at: number; readonly request: FrontRequest }[] = [];

  /** Undefined: the request is within the limits. A refused request does not count. */
  refusal(request: FrontRequest): FrontAnswer | undefined {
    const now = Date.now();
    for (const { costs, max, withinMs } of LIMITS) {
      const within = this.#requests.filter((each) => each.at > now - withinMs && costs(each.request) > 0);
      const used = within.reduce((sum, each) => sum + costs(each.request), 0);
      const cost = costs(request);
      if (cost > 0 && used + cost > max) {
        const retryAfterMs = (within[0]?.at ?? now) + withinMs - now;
        return limited(403, "You have exceeded a secondary rate limit.", retryAfterMs / 1_000);
      }
    }
    this.#requests = [...this.#requests.filter(({ at }) => at > now - 60 * MINUTE_MS), { at: now, request }];
    return undefined;
  }
}

export function limited(status: number, message: string, retryAfterSeconds: number): FrontAnswer {
  return jsonAnswer(status, { message }, { "retry-after": String(Math.ceil(retryAfterSeconds)) });
}
