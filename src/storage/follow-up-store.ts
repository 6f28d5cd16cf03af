import type { RunId } from "../core/ids.ts";
import type { FollowUpStore } from "../core/runs/follow-up-store.ts";
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
    const rows = await this.#database.query((client) =>
      client.followUp.findMany({ where, orderBy: { seq: "asc" }, take: limit }),
    );
    return rows.map(followUpOf);
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
