import type { PaceLimit } from "../../core/model/threads/pace-limit.ts";

const CONTENT = ["post", "edit", "reaction"] as const;

/**
 * GitHub takes 80 writes of content a minute and 500 an hour from an installation. The rest is left to pull requests,
 * which the outbox does not write. An edit notifies nobody, so progress is shown every 15 seconds.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
export const PACE: readonly PaceLimit[] = [
  { name: "card", counts: ["edit"], per: "message", everyMs: 15_000, burst: 2, reserve: 1 },
  {
    name: "minute",
    counts: CONTENT,
    per: "installation",
    everyMs: 1_500,
    burst: 35,
    reserve: 10,
    closes: true,
  },
  { name: "hour", counts: CONTENT, per: "installation", everyMs: 12_000, burst: 180, reserve: 60 },
];
