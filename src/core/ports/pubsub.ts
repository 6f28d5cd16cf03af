import type { RunId } from "../basics/ids.ts";
import type { JobKind } from "./queue.ts";

/** The channels of notifications. */
export const CHANNELS = {
  /** The run has changed. */
  run: (id: RunId): string => `run:${id}`,
  /** The run was changed, and not by the attempt that works on it. */
  attempt: (id: RunId): string => `attempt:${id}`,
  /** The log of some run has grown. */
  log: "log",
  /** A run waits for a worker, or a slot is free for one. The previous release uses the same name. */
  runQueue: "jobs:run",
  /** There are new jobs of this kind. */
  jobs: (kind: JobKind): string => `jobs:${kind}`,
  /** A key, its principal or a share link has changed. Every cache of them must be cleared. */
  keys: "keys",
  /** The policies or the routing rules of a team have changed. */
  policies: "policies",
  routingRules: "routing-rules",
  /** The stored settings of an adapter have changed. */
  adapterSettings: "adapter-settings",
  /** A run was deleted. Workers remove its files. */
  deletedRuns: "deleted-runs",
  /** Webhook messages wait to be sent. */
  webhooks: "webhooks",
} as const;

/**
 * On these channels, `publish` calls the listeners of its own process before it returns. A caller who has changed a rule
 * never meets the old one in the same process.
 */
export const IMMEDIATE_CHANNELS: ReadonlySet<string> = new Set([CHANNELS.policies, CHANNELS.routingRules]);

/**
 * Notifies all processes that something was committed. Notifications are hints and can be lost, so every subscriber
 * also polls.
 */
export interface PubSub {
  /** Never fails and never waits. Notifications within a few milliseconds are sent together. */
  publish(channels: readonly string[]): void;
  /**
   * Calls `listener` after each notification on `channel`, and after any gap in which notifications may have been
   * lost.
   */
  subscribe(channel: string, listener: () => void): Unsubscribe;
}

export type Unsubscribe = () => void;
