import type { EventRecoveryStore } from "../core/ports/stores/event-log.ts";
import type { Statements } from "./database.ts";

export class PrismaEventRecoveryStore implements EventRecoveryStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async begin(adapter: string, gapMs: number): Promise<{ readonly cursor: string | undefined } | undefined> {
    const [row] = await this.#database.query(
      (client) => client.$queryRaw<{ cursor: string | null }[]>`
        INSERT INTO event_recoveries (adapter) VALUES (${adapter})
        ON CONFLICT (adapter) DO UPDATE SET begun_at = now()
        WHERE event_recoveries.begun_at <= now() - ${gapMs}::float8 * interval '1 millisecond'
        RETURNING cursor`,
    );
    return row && { cursor: row.cursor ?? undefined };
  }

  async advance(adapter: string, cursor: string): Promise<void> {
    await this.#database.query((client) =>
      client.eventRecovery.update({ where: { adapter }, data: { cursor } }),
    );
  }

  async listStored(adapter: string, deliveryIds: readonly string[]): Promise<ReadonlySet<string>> {
    const query = {
      where: { adapter, deliveryId: { in: [...deliveryIds] } },
      select: { deliveryId: true },
    };
    const rows = await this.#database.query((client) => client.inboxEvent.findMany(query));
    return new Set(rows.map(({ deliveryId }) => deliveryId));
  }
}
