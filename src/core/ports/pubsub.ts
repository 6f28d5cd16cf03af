import type { RunId } from "../ids.ts";
import type { JobKind } from "./queue.ts";

/** What there is news of. */
export const CHANNELS = {
  /** The run has changed. */
  run: (id: RunId): string => `run:${id}`,
  /** The log of some run has grown. */
  log: "log",
  /** There are new jobs of this kind. */
  jobs: (kind: JobKind): string => `jobs:${kind}`,
  /** A key, its principal or a share link has changed: whoever keeps such in mind forgets it. */
  keys: "keys",
  /** Rules of a team have changed: of either kind. */
  policies: "policies",
  routingRules: "routing-rules",
  /** Messages wait to be sent. */
  webhooks: "webhooks",
} as const;

/**
 * Tells all processes that something was committed. A hint only: news can be lost, and whoever waits for it
 * also looks by itself now and then.
 */
export interface PubSub {
  /** Never fails and never waits; several within a few milliseconds go out as one. */
  publish(channels: readonly string[]): void;
  /** Calls `listener` after each news of `topic`, and after any gap in which news may have been lost. */
  subscribe(channel: string, listener: () => void): Unsubscribe;
}

export type Unsubscribe = () => void;
