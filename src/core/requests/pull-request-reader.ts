import type { Clock } from "../basics/clock.ts";
import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Log } from "../basics/log.ts";
import type { PullRequestStatus } from "../model/repositories/pull-request-status.ts";
import type { ListedRun } from "../model/runs/run.ts";
import { teamAccessOf } from "../model/secrets/secret.ts";
import type { PullRequests } from "../ports/pull-requests.ts";
import type { RunService } from "./run-service.ts";

export interface PullRequestReaderDeps {
  readonly pullRequests: Pick<PullRequests, "read">;
  readonly runs: Pick<RunService, "setPullRequestStatus">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/**
 * A pull request is read again after this time while a check runs or nothing is known of it, after a minute while nothing is
 * expected, and after the longest time once it is merged or closed, or the platform refused to show it. Events of the platform
 * are read at once.
 */
const FRESH_MS = 15_000;
const QUIET_FRESH_MS = 60_000;
const DONE_FRESH_MS = 10 * 60_000;
const READINGS_MAX = 4;
const KNOWN_MAX = 5_000;

/**
 * Brings the status of pull requests up to date when the platform reports a change and when a caller reads one run. A list has
 * the stored status.
 * Callers do not wait for the platform: they get the stored status, and the next caller gets the new one.
 */
export class PullRequestReader {
  readonly #deps: PullRequestReaderDeps;
  /** When each run's pull request was last read by this process, also in vain. */
  readonly #readAtMs = new Map<RunId, number>();
  readonly #refused = new Set<RunId>();
  #readings = 0;

  constructor(deps: PullRequestReaderDeps) {
    this.#deps = deps;
  }

  /** Begins to read the newest pull request of the run, unless it was read lately or too many are being read. */
  refresh(run: ListedRun): void {
    const nowMs = this.#deps.clock.now().getTime();
    const url = run.pullRequest;
    if (url === undefined || this.#readings >= READINGS_MAX || this.#isFresh(run, nowMs)) {
      return;
    }
    this.#readings += 1;
    void this.#read(run, url).finally(() => {
      this.#readings -= 1;
    });
  }

  /** Stores what was read because the platform said that the pull request changed. */
  async take(run: ListedRun, status: PullRequestStatus): Promise<void> {
    if (status.url === run.pullRequest) {
      this.#noteRead(run.id);
      await this.#store(run, status);
    }
  }

  #isFresh(run: ListedRun, nowMs: number): boolean {
    return (
      nowMs - (this.#readAtMs.get(run.id) ?? 0) < (this.#refused.has(run.id) ? DONE_FRESH_MS : freshMs(run))
    );
  }

  async #read(run: ListedRun, url: string): Promise<void> {
    const { log, pullRequests } = this.#deps;
    this.#noteRead(run.id);
    try {
      const status = await pullRequests.read(teamAccessOf(run), url);
      if (status !== undefined) {
        await this.#store(run, status);
      }
    } catch (error) {
      log.warn("pull_request.not_read", { runId: run.id, error });
      if (error instanceof AppError && !error.retryable) {
        this.#refused.add(run.id);
      }
    }
  }

  #noteRead(id: RunId): void {
    if (this.#readAtMs.size >= KNOWN_MAX) {
      this.#readAtMs.clear();
      this.#refused.clear();
    }
    this.#readAtMs.set(id, this.#deps.clock.now().getTime());
    this.#refused.delete(id);
  }

  async #store(run: ListedRun, status: PullRequestStatus): Promise<void> {
    if (!isSame(status, run.pullRequestStatus)) {
      await this.#deps.runs.setPullRequestStatus(run.id, status);
    }
  }
}

/** The status of an earlier pull request says nothing about the newest. */
function freshMs({ pullRequest, pullRequestStatus: status }: ListedRun): number {
  if (status === undefined || status.url !== pullRequest) {
    return FRESH_MS;
  }
  if (status.state === "merged" || status.state === "closed") {
    return DONE_FRESH_MS;
  }
  return status.checks.some(({ state }) => state === "running") ? FRESH_MS : QUIET_FRESH_MS;
}

function isSame(one: PullRequestStatus, other: PullRequestStatus | undefined): boolean {
  const parts = ({ checks, state, url }: PullRequestStatus) =>
    JSON.stringify([url, state, checks.map((check) => [check.name, check.state, check.url])]);
  return other !== undefined && parts(one) === parts(other);
}
