/**
 * Tells all processes that something was committed. A hint only: news can be lost, and whoever waits for it
 * also looks by itself now and then.
 */
export interface News {
  /** Never fails and never waits; several within a few milliseconds go out as one. */
  tell(topics: readonly string[]): void;
  /** Calls `listener` after each news of `topic`, and after any gap in which news may have been lost. */
  on(topic: string, listener: () => void): Unsubscribe;
}

export type Unsubscribe = () => void;
