import { PgBoss } from "pg-boss";
import { withTimeout } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../../core/ports/pubsub.ts";
import { JOB_KINDS, type Job, type JobHandler, type JobKind, type Queue } from "../../core/ports/queue.ts";
import { JOB_COLUMNS } from "../store-deps.ts";
import { JobAlarm } from "./job-alarm.ts";
import { HEARTBEAT_SECONDS, JOB_INSERT, policyOf, SUPERVISE_SECONDS, settingsOf } from "./queue-settings.ts";
import { QueueWorker } from "./queue-worker.ts";

export interface PgBossQueueOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** How long one statement may take. */
  readonly statementMs?: number;
  /** `isListening`: messages of other processes arrive. */
  readonly pubsub: PubSub & { readonly isListening: boolean };
  readonly log: Log;
}

const CONNECT_TIMEOUT_MS = 2_000;
/** The library creates and upgrades its tables over the same connections, which takes longer than all its other work. */
const STATEMENT_TIMEOUT_MS = 15_000;

export class PgBossQueue implements Queue {
  readonly #boss: PgBoss;
  readonly #options: PgBossQueueOptions;
  readonly #stopping = new AbortController();
  readonly #unsubscribes: Unsubscribe[] = [];
  readonly #workers = new Map<JobKind, QueueWorker>();
  #alarm: JobAlarm | undefined;

  constructor(options: PgBossQueueOptions) {
    this.#options = options;
    const { url, maxConnections, log, statementMs = STATEMENT_TIMEOUT_MS } = options;
    this.#boss = new PgBoss({
      connectionString: url,
      max: maxConnections,
      ...linkLimits(statementMs),
      application_name: "errand queue",
      schedule: false,
      // One process at a time does it (`JobAlarm`).
      supervise: false,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    });
    this.#boss.on("error", (error) => log.warn("queue.error", { error: error.message }));
    this.#boss.on("warning", (warning) => log.warn("queue.warning", { warning: warning.message }));
  }

  async start(): Promise<void> {
    await this.#boss.start();
    for (const kind of JOB_KINDS) {
      await this.#createQueue(kind);
    }
  }

  async ensure(job: Job): Promise<void> {
    await this.#boss.getDb().executeSql(ENSURE_JOB, [JSON.stringify(JOB_INSERT.rowsOf([job]))]);
  }

  async work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void> {
    const { log, pubsub } = this.#options;
    const channel = CHANNELS.jobs(kind);
    const worker = new QueueWorker({
      boss: this.#boss,
      kind,
      concurrency,
      handler,
      stopping: this.#stopping.signal,
      onReturned: () => pubsub.publish([channel]),
      heartbeatMs: (HEARTBEAT_SECONDS * 1_000) / 2,
      log,
    });
    this.#workers.set(kind, worker);
    this.#alarm ??= new JobAlarm({
      boss: this.#boss,
      onDue: (due) => this.#workers.get(due)?.wake(),
      isListening: () => pubsub.isListening,
      log,
    });
    const alarm = this.#alarm;
    const wake = () => {
      worker.wake();
      alarm.soon();
    };
    this.#unsubscribes.push(pubsub.subscribe(channel, wake));
  }

  /** Takes no more jobs, fires the handlers' signals, and waits for them. Jobs can still be stored. */
  async drain(graceMs: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribes) {
      unsubscribe();
    }
    this.#stopping.abort();
    const workers = [...this.#workers.values()];
    for (const worker of workers) {
      worker.wake();
    }
    const ended = [this.#alarm?.stop(), ...workers.map((worker) => worker.ended)];
    await withTimeout(Promise.all(ended), graceMs);
  }

  async stop(graceMs: number): Promise<void> {
    await this.drain(graceMs);
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.abandon()));
    await this.#boss.stop({ graceful: false });
  }

  /** How long the oldest job or run that could be taken has waited. Undefined if none waits. */
  async longestWaitSeconds(): Promise<number | undefined> {
    const { rows } = await this.#boss.getDb().executeSql(LONGEST_WAIT);
    const seconds: unknown = rows[0]?.seconds;
    return seconds === null || seconds === undefined ? undefined : Number(seconds);
  }

  /** The second call gives a queue of an earlier version the settings of this one. */
  async #createQueue(kind: JobKind): Promise<void> {
    const settings = settingsOf(kind);
    await this.#boss.createQueue(kind, { policy: policyOf(kind), ...settings });
    await this.#boss.updateQueue(kind, settings);
  }
}

/** `NOT blocked` is a condition of the library's index of waiting jobs. */
const ENSURE_JOB = `
  WITH new_jobs AS (
    SELECT job.* FROM json_to_recordset($1::json) AS job (${JOB_COLUMNS})
    WHERE NOT EXISTS (
      SELECT FROM pgboss.job AS waiting
      WHERE waiting.name = job.queue AND waiting.singleton_key = job.key
        AND waiting.state < 'active' AND NOT waiting.blocked))
  ${JOB_INSERT.sql}`;

/** Jobs of runs are of the previous release. */
const LONGEST_WAIT = `
  SELECT extract(epoch FROM max(now() - due_at))::float8 AS seconds FROM (
    SELECT start_after AS due_at FROM pgboss.job
     WHERE state < 'active' AND NOT blocked AND name = ANY ('{${JOB_KINDS.join(",")}}')
    UNION ALL SELECT greatest(queued_at, start_after) FROM run_queue) AS waiting
   WHERE due_at <= now()`;

/**
 * Without these limits a worker whose peer has vanished waits for its answer for ever. The library hands them to its pool
 * unchanged; its types leave out the last ones.
 */
function linkLimits(statementMs: number) {
  return {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementMs,
    statement_timeout: statementMs,
    keepAlive: true,
  };
}
