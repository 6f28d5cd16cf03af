import type { RunId } from "../core/basics/ids.ts";
import type { StoredThread, ThreadAddress, Verbosity } from "../core/model/threads/thread.ts";
import type { ThreadStore } from "../core/ports/stores/thread-store.ts";
import type { Statements } from "./database.ts";
import type { Prisma } from "./generated/client.ts";
import { threadOf } from "./run-rows.ts";

export class PrismaThreadStore implements ThreadStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async find({ adapter, installation, key }: ThreadAddress): Promise<StoredThread | undefined> {
    return this.#find({ adapter_installation_key: { adapter, installation, key } });
  }

  async findById(id: string): Promise<StoredThread | undefined> {
    return this.#find({ id });
  }

  async listOf(runId: RunId): Promise<readonly StoredThread[]> {
    const rows = await this.#database.query((client) =>
      client.thread.findMany({ where: { runs: { some: { runId } } } }),
    );
    return rows.map(threadOf);
  }

  async addParticipants(id: string, subjects: readonly string[]): Promise<void> {
    await this.#database.query(
      (client) => client.$executeRaw`
        UPDATE threads SET participants = (SELECT array_agg(DISTINCT one) FROM unnest(participants || ${[...subjects]}::text[]) AS one)
        WHERE id = ${id}::uuid`,
    );
  }

  async setNeedsMention(id: string, needsMention: boolean): Promise<void> {
    await this.#database.query((client) =>
      client.thread.updateMany({ where: { id }, data: { needsMention } }),
    );
  }

  async setVerbosity(id: string, verbosity: Verbosity): Promise<void> {
    await this.#database.query((client) => client.thread.updateMany({ where: { id }, data: { verbosity } }));
  }

  async #find(where: Prisma.ThreadWhereUniqueInput): Promise<StoredThread | undefined> {
    const row = await this.#database.query((client) => client.thread.findUnique({ where }));
    return row === null ? undefined : threadOf(row);
  }
}
