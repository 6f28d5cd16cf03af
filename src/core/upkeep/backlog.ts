/** What waits, for operators. Each figure is counted up to `BACKLOG_MAX`. */
export interface Backlog {
  readonly waitingRuns: number;
  /** How long the first of the waiting runs has waited. 0: none waits. */
  readonly oldestWaitSeconds: number;
  /** Events of platforms that came more than `LATE_MINUTES` ago, and about which nothing is decided. */
  readonly undecidedEvents: number;
  /** Notices that have waited longer than `LATE_MINUTES` for their delivery. */
  readonly lateNotices: number;
  /** Notices that were given up. */
  readonly deadNotices: number;
}

export const BACKLOG_MAX = 10_000;
export const LATE_MINUTES = 5;
