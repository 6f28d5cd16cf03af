import type { Job } from "../../src/core/ports/queue.ts";
import type { JobInsert } from "../../src/storage/store-deps.ts";

/** For a storage without a queue: passes the jobs to `record` and stores nothing. */
export function recordJobs(record: (jobs: readonly Job[]) => void): JobInsert {
  const rowsOf = (jobs: readonly Job[]) => {
    record(jobs);
    return [];
  };
  return { rowsOf, sql: "SELECT FROM new_jobs" };
}

export const NO_JOBS: JobInsert = recordJobs(() => undefined);
