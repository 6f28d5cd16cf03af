import type { PaceLimit } from "../../core/model/threads/pace-limit.ts";

/**
 * What Slack allows at least: one message a second in a channel, with short bursts; a few hundred messages a minute in a
 * workspace; 50 edits a minute in a workspace, of which 40 are used; 20 removals of reactions a minute.
 * https://docs.slack.dev/apis/web-api/rate-limits
 */
export const PACE: readonly PaceLimit[] = [
  { name: "posts", counts: ["post"], per: "container", everyMs: 1_000, burst: 4, closes: true },
  { name: "posts", counts: ["post"], per: "installation", everyMs: 300, burst: 20 },
  { name: "card", counts: ["edit"], per: "message", everyMs: 3_000, burst: 1 },
  {
    name: "edits",
    counts: ["edit"],
    per: "installation",
    everyMs: 2_000,
    burst: 10,
    reserve: 5,
    closes: true,
  },
  { name: "reactions", counts: ["reaction"], per: "installation", everyMs: 3_000, burst: 10, closes: true },
];
