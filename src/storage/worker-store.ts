import type { Load, WorkerStore } from "../core/ports/workers.ts";
import type { LiveWorker, Worker } from "../core/workers/worker.ts";
import type { Statements } from "./database.ts";
import type { Worker as WorkerRow } from "./generated/client.ts";

/** Signs of life come three times as often. */
export const LIVE_SECONDS = 30;
const KEPT_SECONDS = 24 * 3_600;

/** All times are the database's: the workers' clocks may differ. */
export class PrismaWorkerStore implements WorkerStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async beat({ id, host, slots, sandbox }: Worker): Promise<void> {
    await this.#database.query(
      (client) => client.$executeRaw`
        INSERT INTO workers (id, worker_host, slots, sandbox, isolated, started_at, last_seen_at)
        VALUES (${id}, ${host ?? null}, ${slots}, ${sandbox.name}, ${sandbox.isolated}, clock_timestamp(), clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET last_seen_at = clock_timestamp()`,
    );
    await this.#database.query(
      (client) => client.$executeRaw`
        DELETE FROM workers WHERE last_seen_at < clock_timestamp() - ${KEPT_SECONDS}::int * interval '1 second'`,
    );
  }

  async remove(id: string): Promise<void> {
    await this.#database.query((client) => client.worker.deleteMany({ where: { id } }));
  }

  async listLive(): Promise<readonly LiveWorker[]> {
    const live = await this.#database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        SELECT id FROM workers
        WHERE last_seen_at > clock_timestamp() - ${LIVE_SECONDS}::int * interval '1 second'`,
    );
    const where = { id: { in: live.map(({ id }) => id) } };
    const rows = await this.#database.query((client) =>
      client.worker.findMany({ where, orderBy: [{ startedAt: "asc" }, { id: "asc" }] }),
    );
    return rows.map(workerOf);
  }

  async load(host: string | undefined): Promise<Load> {
    const [load] = await this.#database.query(
      (client) => client.$queryRaw<Load[]>`
        WITH live AS (
          SELECT id, slots FROM workers
          WHERE last_seen_at > clock_timestamp() - ${LIVE_SECONDS}::int * interval '1 second'
            AND (${host ?? null}::text IS NULL OR worker_host = ${host ?? null}))
        SELECT (SELECT coalesce(sum(slots), 0)::int FROM live) AS slots,
          (SELECT count(*)::int FROM runs
           WHERE lease_expires_at > clock_timestamp() AND lease_worker IN (SELECT id FROM live)) AS taken`,
    );
    return load ?? { slots: 0, taken: 0 };
  }
}

function workerOf({
  id,
  workerHost,
  slots,
  sandbox,
  isolated,
  startedAt,
  lastSeenAt,
}: WorkerRow): LiveWorker {
  const host = workerHost === null ? {} : { host: workerHost };
  return { id, ...host, slots, sandbox: { name: sandbox, isolated }, startedAt, lastSeenAt };
}
