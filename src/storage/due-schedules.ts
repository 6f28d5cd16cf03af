import type { DueSchedule, DueSchedules } from "../core/ports/stores/due-schedules.ts";
import { insertJobs } from "./insert-jobs.ts";
import { scheduleOf } from "./record-stores.ts";
import type { StoreDeps } from "./store-deps.ts";

export class PrismaDueSchedules implements DueSchedules {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async lock(id: string): Promise<DueSchedule | undefined> {
    return this.#deps.database.transaction(async (tx) => {
      const [locked] = await tx.$queryRaw<{ now: Date; due: boolean }[]>`
        SELECT now, coalesce(next_run_at <= now, false) AS due
        FROM schedules, clock_timestamp() AS now WHERE id = ${id}::uuid FOR UPDATE OF schedules`;
      if (locked === undefined) {
        return undefined;
      }
      const row = await tx.schedule.findUniqueOrThrow({ where: { id } });
      return { schedule: scheduleOf(row), now: locked.now, isDue: locked.due };
    });
  }

  /** Measured by the database's clock, which also decides when the time has come. */
  async enqueue(id: string, at: Date): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      const [wait] = await tx.$queryRaw<{ ms: number }[]>`
        SELECT (extract(epoch FROM ${at}::timestamptz - clock_timestamp()) * 1000)::float8 AS ms`;
      const afterMs = Math.max(0, Math.ceil(wait?.ms ?? 0));
      await insertJobs(tx, this.#deps.jobInsert, [{ kind: "schedule", key: id, afterMs }]);
    });
  }

  async list(limit: number): Promise<readonly string[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        SELECT schedules.id::text FROM schedules
        WHERE next_run_at <= clock_timestamp() AND NOT EXISTS (
          SELECT FROM principals WHERE principals.id = creator_id AND disabled AND suspended_at IS NOT NULL)
        ORDER BY next_run_at LIMIT ${limit}`,
    );
    return rows.map(({ id }) => id);
  }
}
