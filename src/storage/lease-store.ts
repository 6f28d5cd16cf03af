import type { LeaseToken, RunId } from "../core/basics/ids.ts";
import type { RunState } from "../core/model/runs/states.ts";
import type { IdleRun, LeaseStore } from "../core/ports/stores/claim-store.ts";
import { IS_AT_QUOTA } from "./claim-store.ts";
import type { Statements } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { RUN_CONFIG } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";

/** How long a queued run, an event or a delivery may wait before Errand checks whether its job was lost. */
export const IDLE_SECONDS = 15;

/** All times are the database's, because the clocks of workers may differ. */
export class PrismaLeaseStore implements LeaseStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async renew(id: RunId, token: LeaseToken, ttlMs: number): Promise<RunState | undefined> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ state: RunState }[]>`
        UPDATE runs SET lease_expires_at = clock_timestamp() + ${ttlMs}::int * interval '1 millisecond'
        WHERE id = ${id}::uuid AND lease_token = ${token}::uuid RETURNING state`,
    );
    return rows[0]?.state;
  }

  async listLost(limit: number): Promise<readonly RunId[]> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ id: RunId }[]>`
        SELECT id::text FROM runs WHERE lease_expires_at < clock_timestamp()
        ORDER BY lease_expires_at LIMIT ${limit}`,
    );
    return rows.map(({ id }) => id);
  }

  async listIdle(host: string | undefined, limit: number): Promise<readonly IdleRun[]> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ id: RunId; config: unknown }[]>`
        SELECT id::text, config FROM runs
        WHERE state = 'QUEUED' AND lease_token IS NULL
          AND updated_at < clock_timestamp() - ${IDLE_SECONDS}::int * interval '1 second'
          AND (config->>'worker_host' IS NULL OR config->>'worker_host' = ${host ?? null})
          AND team_id NOT IN (SELECT id FROM teams WHERE quotas IS NOT NULL AND ${Prisma.raw(IS_AT_QUOTA)})
        ORDER BY updated_at LIMIT ${limit}`,
    );
    return rows.map(({ id, config }) => ({
      id,
      config: parseJsonColumn(RUN_CONFIG, config, { table: "runs", id, column: "config" }),
    }));
  }
}
