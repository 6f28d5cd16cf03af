import { createHash } from "node:crypto";
import { fromPrisma, PgBoss } from "pg-boss";
import type { Log } from "../core/ports/log.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../core/ports/pubsub.ts";
import { JOB_KINDS, type Job, type JobHandler, type JobKind, type Queue } from "../core/ports/queue.ts";
import type { JobSender } from "../storage/store-deps.ts";
import { JobTaker } from "./job-taker.ts";
import { HEARTBEAT_SECONDS, jobInsert, SUPERVISE_SECONDS, settingsOf } from "./queue-settings.ts";

export interface PgBossQueueOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** How long one statement may take. */
  readonly statementMs?: number;
  /** The name by which jobs ask for workers of this process. Jobs that ask for another's are left alone. */
  readonly host?: string;
  readonly pubsub: PubSub;
  readonly log: Log;
}

/** News wakes the workers; polling is the safety net, and finds what is due only later. */
const POLLING_SECONDS = 1;
const CONNECT_TIMEOUT_MS = 2_000;
/** The library makes and upgrades its tables over the same connections: that takes longer than all else it does. */
const STATEMENT_TIMEOUT_MS = 15_000;

export class PgBossQueue implements Queue {
  readonly #boss: PgBoss;
  readonly #options: PgBossQueueOptions;
  readonly #stopping = new AbortController();
  readonly #unsubscribes: Unsubscribe[] = [];
  readonly #takers: JobTaker[] = [];

  constructor(options: PgBossQueueOptions) {
    this.#options = options;
    const { url, maxConnections, log, statementMs = STATEMENT_TIMEOUT_MS } = options;
    this.#boss = new PgBoss({
      connectionString: url,
      max: maxConnections,
      ...linkLimits(statementMs),
      application_name: "errand queue",
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    });
    this.#boss.on("error", (error) => log.warn("queue.error", { error: error.message }));
    this.#boss.on("warning", (warning) => log.warn("queue.warning", { warning: warning.message }));
  }

  async start(): Promise<void> {
    await this.#boss.start();
    for (const kind of JOB_KINDS) {
      await this.#boss.createQueue(kind, settingsOf(kind));
    }
  }

  /** Stores jobs in the caller's transaction. */
  readonly sendJobs: JobSender = async (tx, jobs) => {
    const db = fromPrisma(tx);
    for (const job of jobs) {
      const { afterMs, host, key, kind } = job;
      if (afterMs !== undefined) await this.#send(job, { db });
      else await tx.$queryRawUnsafe(JOB_INSERTS[kind], JSON.stringify([{ key, priority: laneOf(host) }]));
    }
  };

  async ensure(job: Job): Promise<void> {
    const waiting = await this.#boss.findJobs(job.kind, { key: job.key, queued: true });
    if (waiting.length === 0) await this.#send(job, {});
  }

  async work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void> {
    const taker = this.#taker(kind, concurrency, handler);
    this.#takers.push(taker);
    this.#unsubscribes.push(this.#options.pubsub.subscribe(CHANNELS.jobs(kind), () => taker.wake()));
  }

  async stop(graceMs: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#stopping.abort();
    for (const taker of this.#takers) taker.wake();
    await within(graceMs, Promise.all(this.#takers.map(({ ended }) => ended)));
    await Promise.all(this.#takers.map((taker) => taker.abandon()));
    await this.#boss.stop({ graceful: false });
  }

  /** How long the job that has waited longest could have been taken already; undefined: none waits. */
  async longestWaitSeconds(): Promise<number | undefined> {
    const { rows } = await this.#boss.getDb().executeSql(LONGEST_WAIT);
    const [{ seconds = null } = {}] = rows as readonly { readonly seconds?: number | null }[];
    return seconds === null ? undefined : Number(seconds);
  }

  async #send(
    { kind, key, host, afterMs }: Job,
    options: { db?: ReturnType<typeof fromPrisma> },
  ): Promise<void> {
    const priority = laneOf(host);
    await this.#boss.send(
      kind,
      { key },
      { singletonKey: key, priority, ...options, ...startingAfter(afterMs) },
    );
  }

  #taker(kind: JobKind, room: number, handler: JobHandler): JobTaker {
    const { host, log } = this.#options;
    return new JobTaker({
      boss: this.#boss,
      kind,
      // The other kinds are everybody's work.
      lanes: host === undefined || kind !== "run" ? [COMMON_LANE] : [laneOf(host), COMMON_LANE],
      room,
      handler,
      stopping: this.#stopping.signal,
      pollingMs: POLLING_SECONDS * 1_000,
      heartbeatMs: (HEARTBEAT_SECONDS * 1_000) / 2,
      log,
    });
  }
}

const JOB_INSERTS = {
  run: jobInsert("run"),
  inbox: jobInsert("inbox"),
  deliver: jobInsert("deliver"),
  schedule: jobInsert("schedule"),
} as const;

/** `NOT blocked` is what the index of waiting jobs asks for. */
const LONGEST_WAIT = `
  SELECT extract(epoch FROM max(now() - start_after))::float8 AS seconds FROM pgboss.job
   WHERE state < 'active' AND NOT blocked AND start_after <= now() AND name = ANY ('{${JOB_KINDS.join(",")}}')`;

const COMMON_LANE = 0;

/**
 * The library knows no way to ask for the jobs of one host, but it can ask for one priority, along an index. So the
 * name of a host becomes a number of 31 bits, and its jobs have that priority. Two names may share one: whoever
 * handles a job looks at the name once more.
 */
function laneOf(host: string | undefined): number {
  if (host === undefined) return COMMON_LANE;
  return createHash("sha256").update(host).digest().readUInt32BE() >>> 1 || 1;
}

/** In seconds from the database's now: the clocks of the workers do not count. */
function startingAfter(afterMs: number | undefined): { startAfter?: number } {
  return afterMs === undefined ? {} : { startAfter: Math.ceil(afterMs / 1_000) };
}

/**
 * Without these three a worker whose peer has vanished waits for its answer for ever. The library hands them to its
 * pool as they are; its types leave out the last ones.
 */
function linkLimits(statementMs: number) {
  return {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementMs,
    statement_timeout: statementMs,
    keepAlive: true,
  };
}

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([work, late]);
  clearTimeout(timer);
}
