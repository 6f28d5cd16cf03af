import type { RunId } from "../core/ids.ts";
import { FOLLOW_UPS_LENGTH_MAX, type FollowUpStore } from "../core/runs/follow-up-store.ts";
import type { FollowUp } from "../core/runs/run.ts";
import type { Statements } from "./database.ts";
import { followUpOf } from "./run-rows.ts";

export class PrismaFollowUpStore implements FollowUpStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async find(runId: RunId, id: string): Promise<FollowUp | undefined> {
    const row = await this.#database.query((client) => client.followUp.findUnique({ where: { id, runId } }));
    return row === null ? undefined : followUpOf(row);
  }

  async findByMessage(runId: RunId, messageRef: string): Promise<FollowUp | undefined> {
    const query = { where: { runId, messageRef, withdrawnAt: null }, orderBy: { seq: "desc" } } as const;
    const row = await this.#database.query((client) => client.followUp.findFirst(query));
    return row === null ? undefined : followUpOf(row);
  }

  async list(runId: RunId, after: number, limit: number): Promise<readonly FollowUp[]> {
    const where = { runId, seq: { gt: after }, isAnswer: false };
    const take = await this.#countFitting(runId, after, limit);
    const rows = await this.#database.query((client) =>
      client.followUp.findMany({ where, orderBy: { seq: "asc" }, take }),
    );
    return rows.map(followUpOf);
  }

  /** The database measures the messages without unpacking them. */
  async #countFitting(runId: RunId, after: number, limit: number): Promise<number> {
    const [row] = await this.#database.query(
      (client) => client.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM (
          SELECT coalesce(sum(octet_length(message)) OVER (
            ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS length_before
          FROM (
            SELECT seq, message FROM follow_ups
            WHERE run_id = ${runId}::uuid AND seq > ${after}::int AND NOT is_answer
            ORDER BY seq LIMIT ${limit}::int
          ) page
        ) measured WHERE length_before < ${FOLLOW_UPS_LENGTH_MAX}`,
    );
    return row?.count ?? 0;
  }

  async countReports(runId: RunId): Promise<number> {
    const known = { runId, withdrawnAt: null };
    const order = { orderBy: { seq: "desc" } } as const;
    const last = await this.#database.query((client) =>
      client.followUp.findFirst({ where: { ...known, isReport: false }, ...order, select: { seq: true } }),
    );
    const where = { ...known, isReport: true, seq: { gt: last?.seq ?? 0 } };
    return this.#database.query((client) => client.followUp.count({ where }));
  }

  async listFromTurn(runId: RunId, turn: number): Promise<readonly FollowUp[]> {
    const where = { runId, withdrawnAt: null, OR: [{ turn: null }, { turn: { gte: turn } }] };
    const rows = await this.#database.query((client) =>
      client.followUp.findMany({ where, orderBy: { seq: "asc" } }),
    );
    return rows.map(followUpOf);
  }
}
