import type { Notice } from "../../core/model/threads/notice.ts";
import type { PaceLimit } from "../../core/model/threads/pace-limit.ts";

/**
 * GitHub takes 80 comments, reviews and pull requests a minute and 500 an hour from an installation. Edits and reactions are
 * not among them. They use the 900 points a minute, as all calls do: five for a write, one for a read. 700 of them are
 * used here, and the rest by reads and by the commits of `commits/git-writes.ts`. An edit notifies nobody, so progress is shown every 15 seconds.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
export const PACE: readonly PaceLimit[] = [
  { name: "card", counts: ["edit"], per: "message", everyMs: 15_000, burst: 2, reserve: 1 },
  {
    name: "points",
    counts: ["post", "edit", "reaction"],
    per: "installation",
    everyMs: 750,
    burst: 60,
    reserve: 20,
    closes: true,
  },
  {
    name: "minute",
    counts: ["post"],
    per: "installation",
    everyMs: 2_000,
    burst: 50,
    reserve: 20,
    cardsYield: true,
  },
  {
    name: "hour",
    counts: ["post"],
    spares: ["edit", "reaction"],
    per: "installation",
    everyMs: 12_000,
    burst: 200,
    reserve: 100,
    cardsYield: true,
    closes: true,
  },
];

/**
 * The pull request that an answer names was opened just before. It counts like a comment, and the outbox did not write it. A
 * check is not written without the permission.
 */
export function writesOf(notice: Notice, mayWriteChecks?: boolean): number {
  if (notice.kind === "check" && mayWriteChecks === false) {
    return 0;
  }
  if (notice.kind !== "message") {
    return 1;
  }
  const isOpened = notice.landed?.some((work) => work.pullRequest !== undefined) === true;
  return 1 + (isOpened ? 1 : 0) + (notice.parts?.length ?? 0);
}
