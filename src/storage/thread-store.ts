import type { RunId } from "../core/ids.ts";
import type { ThreadStore } from "../core/ports/storage.ts";
import type { Thread, ThreadAddress } from "../core/threads/thread.ts";
import type { Statements } from "./database.ts";
import { threadOf } from "./run-rows.ts";

export class PrismaThreadStore implements ThreadStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async find({ adapter, installation, key }: ThreadAddress): Promise<Thread | undefined> {
    const where = { adapter_installation_key: { adapter, installation, key } };
    const row = await this.#database.query((client) => client.thread.findUnique({ where }));
    return row === null ? undefined : threadOf(row);
  }

  async listOf(runId: RunId): Promise<readonly Thread[]> {
    const rows = await this.#database.query((client) =>
      client.thread.findMany({ where: { runs: { some: { runId } } } }),
    );
    return rows.map(threadOf);
  }
}
