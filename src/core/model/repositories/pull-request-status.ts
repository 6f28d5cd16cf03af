export const PULL_REQUEST_STATES = ["draft", "open", "merged", "closed"] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

/** `skipped`: the check decided nothing, so it is not counted. */
export const CHECK_STATES = ["running", "passed", "failed", "skipped"] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export interface PullRequestCheck {
  readonly name: string;
  readonly state: CheckState;
  /** Where the platform shows it. */
  readonly url?: string;
}

/** What the platform says about a pull request. */
export interface PullRequestStatus {
  /** The address of the pull request. */
  readonly url: string;
  readonly state: PullRequestState;
  /** The checks of the newest commit: those that failed first. At most `CHECKS_MAX`. */
  readonly checks: readonly PullRequestCheck[];
  /** It is a draft that becomes ready once its checks pass. */
  readonly awaitsChecks?: true;
}

/** What a run keeps of a new status: a draft that awaits its checks goes on awaiting them. */
export function statusAfter(
  before: PullRequestStatus | undefined,
  status: PullRequestStatus,
): PullRequestStatus {
  const isAwaited = before?.url === status.url && before.awaitsChecks === true && status.state === "draft";
  return isAwaited ? { ...status, awaitsChecks: true } : status;
}

export const CHECKS_MAX = 50;

/** How many checks there are, without those that decided nothing. */
export interface CheckCounts {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
}

export function countChecks(checks: readonly PullRequestCheck[]): CheckCounts {
  const count = (state: CheckState) => checks.filter((check) => check.state === state).length;
  return { total: checks.length - count("skipped"), passed: count("passed"), failed: count("failed") };
}

/** `checks 3 of 4 passed`. Empty without checks. */
export function checksText({ failed, passed, total }: CheckCounts): string {
  if (total === 0) {
    return "";
  }
  return `checks ${passed} of ${total} passed${failed === 0 ? "" : `, ${failed} failed`}`;
}
