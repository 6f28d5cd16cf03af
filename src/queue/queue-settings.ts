import type { JobKind } from "../core/ports/queue.ts";

/** A job whose worker is killed is handed out again after at most these two together. */
export const HEARTBEAT_SECONDS = 10;
export const SUPERVISE_SECONDS = 5;
const RETRY_LIMIT = 1_000;
/**
 * An inbox job fails with the platform that was asked, a schedule's with the host of its skill: both may take minutes
 * to come back. The others keep account of that by themselves: their jobs fail only with the database, and should be
 * there when it is.
 */
const RETRY_DELAY_MAX_SECONDS = { run: 5, inbox: 60, deliver: 5, schedule: 60 } as const;
const KEEP_DONE_SECONDS = 3_600;
/** The library's own maximum. A run's length is bounded elsewhere. */
const RUN_EXPIRE_SECONDS = 24 * 3_600;
const SHORT_EXPIRE_SECONDS = 300;

/**
 * Runs guard themselves by their lease and schedules by their lock, so a job too many finds nothing to do. For the
 * others a key's next job waits for the one before it. The policy `singleton` would do that too, but from a list of
 * busy keys that is up to a minute old: what is on it is not handed out though it is free, and what is not on it holds
 * up everybody else's.
 */
const POLICIES = {
  run: "standard",
  inbox: "key_strict_fifo",
  deliver: "key_strict_fifo",
  schedule: "standard",
} as const;

export function settingsOf(kind: JobKind) {
  return {
    policy: POLICIES[kind],
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: kind === "run" ? RUN_EXPIRE_SECONDS : SHORT_EXPIRE_SECONDS,
    retryLimit: RETRY_LIMIT,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: RETRY_DELAY_MAX_SECONDS[kind],
    deleteAfterSeconds: KEEP_DONE_SECONDS,
  } as const;
}

/**
 * Stores jobs that may be taken at once, as the library's own `send` does: `$1` is a list of `{key, priority}` as JSON.
 * That one reads all of a job out of a text, which takes the database three times as long, within the statement that
 * callers wait for. A test holds the rows of the two beside each other.
 */
export function jobInsert(kind: JobKind): string {
  const settings = settingsOf(kind);
  return `
    INSERT INTO pgboss.job (name, data, singleton_key, priority, policy, heartbeat_seconds, expire_seconds,
      retry_limit, retry_delay, retry_backoff, retry_delay_max, deletion_seconds)
    SELECT '${kind}', jsonb_build_object('key', sent.key), sent.key, sent.priority, '${settings.policy}',
      ${settings.heartbeatSeconds}, ${settings.expireInSeconds}, ${settings.retryLimit}, ${settings.retryDelay},
      ${settings.retryBackoff}, ${settings.retryDelayMax}, ${settings.deleteAfterSeconds}
    FROM json_to_recordset($1::json) AS sent (key text, priority int)`;
}
