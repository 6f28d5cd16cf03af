import type { Clock } from "../basics/clock.ts";
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

/** A pull request that people work on is read again after this time, any other one after the longer time. */
const FRESH_MS = 15_000;
const DONE_FRESH_MS = 10 * 60_000;
const READINGS_MAX = 4;
const KNOWN_MAX = 5_000;

/**
 * Brings the status of pull requests up to date when the platform reports a change and when a caller reads a run.
 * Callers do not wait for the platform: they get the stored status, and the next caller gets the new one.
 */
export class PullRequestReader {
  readonly #deps: PullRequestReaderDeps;
  /** When each run's pull request was last read by this process, also in vain. */
  readonly #readAtMs = new Map<RunId, number>();
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
    if (this.#readAtMs.size >= KNOWN_MAX) {
      this.#readAtMs.clear();
    }
    this.#readAtMs.set(run.id, nowMs);
    this.#readings += 1;
    void this.#read(run, url).finally(() => {
      this.#readings -= 1;
    });
  }

  /** Reads it now, because the platform says that it changed. A failure is logged, and the next reader tries again. */
  async reread(run: ListedRun): Promise<void> {
    if (run.pullRequest !== undefined) {
      await this.#read(run, run.pullRequest);
    }
  }

  #isFresh({ id, pullRequest, pullRequestStatus: status }: ListedRun, nowMs: number): boolean {
    const isDone = status?.url === pullRequest && (status?.state === "merged" || status?.state === "closed");
    return nowMs - (this.#readAtMs.get(id) ?? 0) < (isDone ? DONE_FRESH_MS : FRESH_MS);
  }

  async #read(run: ListedRun, url: string): Promise<void> {
    const { log, pullRequests, runs } = this.#deps;
    try {
      const status = await pullRequests.read(teamAccessOf(run), url);
      if (status !== undefined && !isSame(status, run.pullRequestStatus)) {
        await runs.setPullRequestStatus(run.id, status);
      }
    } catch (error) {
      log.warn("pull_request.not_read", { runId: run.id, error });
    }
  }
}

function isSame(one: PullRequestStatus, other: PullRequestStatus | undefined): boolean {
  const parts = ({ checks, state, url }: PullRequestStatus) =>
    JSON.stringify([url, state, checks.map((check) => [check.name, check.state, check.url])]);
  return other !== undefined && parts(one) === parts(other);
}
