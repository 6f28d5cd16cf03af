import type { RunId } from "../core/basics/ids.ts";
import type { FollowUp } from "../core/model/runs/follow-up.ts";
import {
  FOLLOW_UPS_LENGTH_MAX,
  type FollowUpStore,
  type ShownFollowUp,
} from "../core/ports/stores/follow-up-store.ts";
import type { Statements } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { type Nullable, withoutNulls } from "./rows.ts";
import { followUpOf } from "./run-rows.ts";
import { sumBefore } from "./within-length.ts";

/** The database measures the messages without unpacking them. */
const LENGTH = "octet_length(message)";
const LENGTH_BEFORE = Prisma.raw(sumBefore(LENGTH, "seq"));
/** What waits has no turn, and comes before the latest turn. */
const FROM_TURN = `
  SELECT id, turn, created_at AS "createdAt",
    CASE WHEN ${sumBefore(LENGTH, "turn DESC NULLS FIRST, seq DESC")} < ${FOLLOW_UPS_LENGTH_MAX} THEN message END AS message
  FROM follow_ups
  WHERE run_id = $1::uuid AND withdrawn_at IS NULL AND CASE
    WHEN $3::int IS NULL THEN turn IS NULL OR turn >= $2::int ELSE turn >= $2::int AND turn < $3::int END
  ORDER BY seq`;

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

  async #countFitting(runId: RunId, after: number, limit: number): Promise<number> {
    const [row] = await this.#database.query(
      (client) => client.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM (
          SELECT ${LENGTH_BEFORE} AS length_before FROM (
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

  async listFromTurn(runId: RunId, turn: number, end?: number): Promise<readonly ShownFollowUp[]> {
    const rows = await this.#database.rows<Nullable<ShownFollowUp>>({
      text: FROM_TURN,
      values: [runId, turn, end ?? null],
    });
    return rows.map((row) => withoutNulls<ShownFollowUp>(row));
  }
}
