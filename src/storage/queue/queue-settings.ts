import { defined } from "../../core/basics/defined.ts";
import type { JobKind } from "../../core/ports/queue.ts";
import type { JobInsert } from "../store-deps.ts";

/**
 * A job whose worker is killed is handed out again after at most these two together, the time to the alarm's next look
 * and the delay of the retry: 10 + 5 + 5 + 1 seconds.
 */
export const HEARTBEAT_SECONDS = 10;
export const SUPERVISE_SECONDS = 5;
const RETRY_LIMIT = 1_000;
/**
 * An inbox job fails when the platform does not answer, a schedule's job when the host of its skill does not answer:
 * both may take minutes to come back. Jobs of the other kinds fail only with the database, and must be retried soon
 * after it is back.
 */
const RETRY_DELAY_MAX_SECONDS = { inbox: 60, deliver: 5, schedule: 60 } as const;
const KEEP_DONE_SECONDS = 3_600;
const EXPIRE_SECONDS = 300;

/**
 * A lock guards a schedule, so a second job of the same key finds nothing to do. For the other
 * kinds, the next job of a key waits for the one before it. The policy `singleton` would do that too, but from a list of
 * busy keys that is up to a minute old: it holds back keys that are free.
 */
const POLICIES = {
  inbox: "key_strict_fifo",
  deliver: "key_strict_fifo",
  schedule: "standard",
} as const;

export function policyOf(kind: JobKind) {
  return POLICIES[kind];
}

export function settingsOf(kind: JobKind) {
  return {
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: EXPIRE_SECONDS,
    retryLimit: RETRY_LIMIT,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: RETRY_DELAY_MAX_SECONDS[kind],
    deleteAfterSeconds: KEEP_DONE_SECONDS,
  } as const;
}

/**
 * Stores jobs as the library's own `send` does, with the settings of their queue. That one computes each column out of a
 * text, which takes the database three times as long. A test compares the rows of both.
 */
export const JOB_INSERT: JobInsert = {
  rowsOf: (jobs) =>
    jobs.map(({ afterMs, key, kind }) => ({
      queue: kind,
      key,
      // From now of the database: the clocks of the workers do not count.
      ...defined({ delay_seconds: afterMs === undefined ? undefined : Math.ceil(afterMs / 1_000) }),
    })),
  sql: `
    INSERT INTO pgboss.job (name, data, singleton_key, created_on, start_after, keep_until, policy, heartbeat_seconds,
      expire_seconds, retry_limit, retry_delay, retry_backoff, retry_delay_max, deletion_seconds)
    SELECT queue.name, jsonb_build_object('key', new_jobs.key), new_jobs.key,
      now(), now() + make_interval(secs => coalesce(delay_seconds, 0)),
      now() + make_interval(secs => coalesce(delay_seconds, 0) + queue.retention_seconds),
      queue.policy, queue.heartbeat_seconds, queue.expire_seconds, queue.retry_limit, queue.retry_delay,
      queue.retry_backoff, queue.retry_delay_max, queue.deletion_seconds
    FROM new_jobs JOIN pgboss.queue ON queue.name = new_jobs.queue`,
};
