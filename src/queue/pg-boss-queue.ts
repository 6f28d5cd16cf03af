import { fromPrisma, PgBoss } from "pg-boss";
import type { News, Unsubscribe } from "../core/ports/news.ts";
import { JOB_KINDS, type Job, type JobHandler, type JobKind, type Queue } from "../core/ports/queue.ts";
import type { JobSender } from "../storage/store-parts.ts";

export interface PgBossQueueOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly news: News;
  readonly log: (message: string, facts: Record<string, unknown>) => void;
}

/** A job whose worker is killed is handed out again after at most these two together. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
/** News wakes the workers; polling is the safety net, and finds what is due only later. */
const POLLING_SECONDS = 1;
const RETRY_LIMIT = 1_000;
/**
 * An inbox job fails with the platform that was asked, which may take minutes to come back. The others keep account
 * of that by themselves: their jobs fail only with the database, and should be there when it is.
 */
const RETRY_DELAY_MAX_SECONDS = { run: 5, inbox: 60, deliver: 5 } as const;
const KEEP_DONE_SECONDS = 3_600;
/** The library's own maximum. A run's length is bounded elsewhere. */
const RUN_EXPIRE_SECONDS = 24 * 3_600;
const SHORT_EXPIRE_SECONDS = 300;
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Runs guard themselves by their lease, so a job too many finds nothing to do. For the others a key's next job waits
 * for the one before it. The policy `singleton` would do that too, but from a list of busy keys that is up to a
 * minute old: what is on it is not handed out though it is free, and what is not on it holds up everybody else's.
 */
const POLICIES = { run: "standard", inbox: "key_strict_fifo", deliver: "key_strict_fifo" } as const;

export class PgBossQueue implements Queue {
  readonly #boss: PgBoss;
  readonly #news: News;
  readonly #stopping = new AbortController();
  readonly #unsubscribes: Unsubscribe[] = [];

  constructor({ url, maxConnections, news, log }: PgBossQueueOptions) {
    this.#news = news;
    this.#boss = new PgBoss({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: "errand queue",
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    });
    this.#boss.on("error", (error) => log("queue.error", { error: error.message }));
    this.#boss.on("warning", (warning) => log("queue.warning", { warning: warning.message }));
  }

  async start(): Promise<void> {
    await this.#boss.start();
    for (const kind of JOB_KINDS) {
      await this.#boss.createQueue(kind, {
        policy: POLICIES[kind],
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds: kind === "run" ? RUN_EXPIRE_SECONDS : SHORT_EXPIRE_SECONDS,
        retryLimit: RETRY_LIMIT,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: RETRY_DELAY_MAX_SECONDS[kind],
        deleteAfterSeconds: KEEP_DONE_SECONDS,
      });
    }
  }

  /** Stores jobs in the caller's transaction. */
  readonly sendJobs: JobSender = async (tx, jobs) => {
    const db = fromPrisma(tx);
    for (const { kind, key, afterMs } of jobs) {
      await this.#boss.send(kind, { key }, { singletonKey: key, db, ...startingAfter(afterMs) });
    }
  };

  async ensure({ kind, key, afterMs }: Job): Promise<void> {
    const waiting = await this.#boss.findJobs(kind, { key, queued: true });
    if (waiting.length === 0)
      await this.#boss.send(kind, { key }, { singletonKey: key, ...startingAfter(afterMs) });
  }

  /** Workers of concurrency 1 each: the library's own concurrency wakes only the first of its workers. */
  async work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void> {
    const ids: string[] = [];
    for (let index = 0; index < concurrency; index += 1) {
      ids.push(await this.#startWorker(kind, handler));
    }
    const wakeAll = () => {
      for (const id of ids) this.#boss.notifyWorker(id);
    };
    this.#unsubscribes.push(this.#news.on(`jobs:${kind}`, wakeAll));
  }

  async stop(graceMs: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#stopping.abort();
    await this.#boss.stop({ graceful: true, timeout: graceMs });
  }

  async #startWorker(kind: JobKind, handler: JobHandler): Promise<string> {
    const options = { pollingIntervalSeconds: POLLING_SECONDS, batchSize: 1 };
    const id: string = await this.#boss.work<{ key: string }>(kind, options, async (jobs) => {
      for (const { data, signal } of jobs) {
        await handler(data.key, AbortSignal.any([signal, this.#stopping.signal]));
      }
      // Without this a worker sleeps its whole interval after each job.
      this.#boss.notifyWorker(id);
    });
    return id;
  }
}

/** In seconds from the database's now: the clocks of the workers do not count. */
function startingAfter(afterMs: number | undefined): { startAfter?: number } {
  return afterMs === undefined ? {} : { startAfter: Math.ceil(afterMs / 1_000) };
}
