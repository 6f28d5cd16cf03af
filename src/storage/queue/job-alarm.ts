import type { PgBoss } from "pg-boss";
import { PROCESS_TIMER, type Stop } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import { JOB_KINDS, type JobKind } from "../../core/ports/queue.ts";
import { SUPERVISE_SECONDS } from "./queue-settings.ts";

export interface JobAlarmDeps {
  readonly boss: Pick<PgBoss, "getDb" | "supervise">;
  /** Called for a kind with jobs whose time has come. */
  readonly onDue: (kind: JobKind) => void;
  /** Whether messages about new jobs arrive. */
  readonly isListening: () => boolean;
  readonly log: Log;
}

const LOOK_MS = 5_000;
const LOOK_WITHOUT_MESSAGES_MS = 1_000;
/** A delayed job starts a second after its message at the earliest. */
const SOON_MS = 500;
const REST_MIN_MS = 100;

/**
 * Wakes the workers of this process for jobs whose time has come, and for those whose message was lost. A job without a
 * delay does not wait for it, because its message wakes the workers. One statement reads all queues:
 *
 * 1. It tells which queues have jobs that are due, and when the next delayed job is due. The next look is at that time.
 * 2. After a message and after a failed job, it looks again soon, because the job may have a delay.
 * 3. It tells whether the library's own upkeep is due. The process that finds so performs it, and so the others do not.
 */
export class JobAlarm {
  readonly #deps: JobAlarmDeps;
  #isStopped = false;
  #stopSoon: Stop | undefined;
  #wake: () => void = () => undefined;
  readonly #ended: Promise<void>;

  constructor(deps: JobAlarmDeps) {
    this.#deps = deps;
    this.#ended = this.#run();
  }

  /** Call it when there may be a new job with a delay. */
  soon(): void {
    this.#stopSoon ??= PROCESS_TIMER.after(SOON_MS, () => {
      this.#stopSoon = undefined;
      this.#wake();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopSoon?.();
    this.#wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const restMs = await this.#look();
      if (!this.#isStopped) {
        await this.#rest(restMs);
      }
    }
  }

  /** Returns the time to the next look. */
  async #look(): Promise<number> {
    const { boss, isListening, log, onDue } = this.#deps;
    // Processes that started together would otherwise all find the upkeep due.
    const pollMs = (isListening() ? LOOK_MS : LOOK_WITHOUT_MESSAGES_MS) * (0.8 + 0.2 * Math.random());
    try {
      const queues: readonly Look[] = (await boss.getDb().executeSql(LOOK)).rows;
      for (const { isDue, kind } of queues) {
        if (isDue) {
          onDue(kind);
        }
      }
      if (!this.#isStopped && queues.some(({ needsUpkeep }) => needsUpkeep)) {
        await boss.supervise();
        this.soon();
      }
      const nextMs = Math.min(...queues.map(({ nextMs }) => nextMs ?? pollMs), pollMs);
      return Math.max(REST_MIN_MS, Math.ceil(nextMs));
    } catch (error) {
      log.warn("queue.error", { error: String(error) });
      return LOOK_WITHOUT_MESSAGES_MS;
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = PROCESS_TIMER.after(ms, resolve);
      this.#wake = () => {
        stop();
        resolve();
      };
    });
  }
}

interface Look {
  readonly kind: JobKind;
  readonly isDue: boolean;
  readonly nextMs: number | null;
  readonly needsUpkeep: boolean;
}

/** `NOT blocked` is a condition of the library's index of waiting jobs. */
const WAITING = "FROM pgboss.job WHERE job.name = queue.name AND state < 'active' AND NOT blocked";
const LOOK = `
  SELECT name AS kind, EXISTS (SELECT ${WAITING} AND start_after <= now()) AS "isDue",
    (SELECT extract(epoch FROM min(start_after) - now())::float8 * 1000 ${WAITING} AND start_after > now()) AS "nextMs",
    coalesce(monitor_claim_on <= now() - ${SUPERVISE_SECONDS} * interval '1 second', true) AS "needsUpkeep"
  FROM pgboss.queue WHERE name = ANY ('{${JOB_KINDS.join(",")}}')`;
