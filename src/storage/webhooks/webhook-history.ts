import type { News } from "../../core/ports/news.ts";
import {
  type ReplayedDeliveries,
  type TriedWebhook,
  WEBHOOKS_TOPIC,
  type WebhookDeliveryQuery,
  type WebhookHistory,
} from "../../core/ports/webhooks.ts";
import type { WebhookDelivery } from "../../core/webhooks/webhook-delivery.ts";
import type { Statements } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { deliveryOf, tryOf } from "./webhook-rows.ts";

export class PrismaWebhookHistory implements WebhookHistory {
  readonly #database: Statements;
  readonly #news: News;

  constructor(database: Statements, news: News) {
    this.#database = database;
    this.#news = news;
  }

  async list({ after, endpointId, limit, state }: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const where = {
      endpointId,
      ...(state === undefined ? {} : { state }),
      ...(after === undefined ? {} : { id: { lt: after } }),
    };
    const rows = await this.#database.query((client) =>
      client.webhookDelivery.findMany({ where, orderBy: { id: "desc" }, take: limit }),
    );
    return rows.map(deliveryOf);
  }

  async find(endpointId: string, id: string): Promise<TriedWebhook | undefined> {
    const include = { history: { orderBy: { number: "asc" } } } as const;
    const row = await this.#database.query((client) =>
      client.webhookDelivery.findUnique({ where: { id, endpointId }, include }),
    );
    return row === null ? undefined : { ...deliveryOf(row), history: row.history.map(tryOf) };
  }

  async replay(endpointId: string, which: ReplayedDeliveries): Promise<number> {
    const chosen = "id" in which ? Prisma.sql`id = ${which.id}::uuid` : deadBetween(which.since, which.until);
    const count = await this.#database.query(
      (client) => client.$executeRaw`
        UPDATE webhook_deliveries
        SET state = 'waiting', step = 0, error = NULL, settled_at = NULL, due_at = clock_timestamp()
        WHERE endpoint_id = ${endpointId}::uuid AND ${chosen}`,
    );
    this.#news.tell([WEBHOOKS_TOPIC]);
    return count;
  }

  async prune(olderThanMs: number, limit: number): Promise<number> {
    return this.#database.query(
      (client) => client.$executeRaw`
        DELETE FROM webhook_deliveries WHERE id IN (
          SELECT id FROM webhook_deliveries
          WHERE created_at < now() - ${olderThanMs}::bigint * interval '1 millisecond' AND state <> 'waiting'
          ORDER BY created_at LIMIT ${limit})`,
    );
  }
}

function deadBetween(since: Date, until: Date | undefined): Prisma.Sql {
  const end = until === undefined ? Prisma.sql`true` : Prisma.sql`created_at < ${until}`;
  return Prisma.sql`state = 'dead' AND created_at >= ${since} AND ${end}`;
}
