import { defined } from "../../core/basics/defined.ts";
import type { WebhookDelivery } from "../../core/model/webhooks/webhook.ts";
import { CHANNELS, type PubSub } from "../../core/ports/pubsub.ts";
import type {
  ReplayedDeliveries,
  TriedWebhook,
  WebhookDeliveryQuery,
  WebhookHistory,
} from "../../core/ports/stores/webhook-stores.ts";
import type { Statements } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { deliveryOf, NOBODY, tryOf } from "./webhook-rows.ts";

export class PrismaWebhookHistory implements WebhookHistory {
  readonly #database: Statements;
  readonly #pubsub: PubSub;

  constructor(database: Statements, pubsub: PubSub) {
    this.#database = database;
    this.#pubsub = pubsub;
  }

  async list({ after, endpointId, limit, state }: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const where = defined({ endpointId, state, id: after === undefined ? undefined : { lt: after } });
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

  async replay(endpointId: string, which: ReplayedDeliveries, limit: number): Promise<number> {
    const chosen = "id" in which ? Prisma.sql`id = ${which.id}::uuid` : deadBetween(which.since, which.until);
    const count = await this.#database.query(
      (client) => client.$executeRaw`
        UPDATE webhook_deliveries
        SET state = 'waiting', retry_step = 0, error = NULL, completed_at = NULL, due_at = clock_timestamp()
        WHERE id IN (
          SELECT id FROM webhook_deliveries
          WHERE endpoint_id = ${endpointId}::uuid AND ${chosen} ORDER BY id LIMIT ${limit})`,
    );
    this.#pubsub.publish([CHANNELS.webhooks]);
    return count;
  }

  async detach(endpointId: string): Promise<void> {
    const data = { teamId: NOBODY, enabled: false, url: "", secrets: [] };
    await this.#database.query((client) =>
      client.webhookEndpoint.update({ where: { id: endpointId }, data }),
    );
  }

  async prune(olderThanMs: number, limit: number): Promise<boolean> {
    const counts = [
      await this.#removeOld(olderThanMs, limit),
      await this.#removeDetached(limit),
      await this.#giveUpHopeless(limit),
    ];
    return counts.includes(limit);
  }

  #removeOld(olderThanMs: number, limit: number): Promise<number> {
    return this.#database.query(
      (client) => client.$executeRaw`
        DELETE FROM webhook_deliveries WHERE id IN (
          SELECT id FROM webhook_deliveries
          WHERE created_at < now() - ${olderThanMs}::bigint * interval '1 millisecond' AND state <> 'waiting'
          ORDER BY created_at LIMIT ${limit})`,
    );
  }

  /** The endpoint is deleted with its last delivery. */
  #removeDetached(limit: number): Promise<number> {
    return this.#database.query(async (client) => {
      const count = await client.$executeRaw`
        DELETE FROM webhook_deliveries WHERE id IN (
          SELECT d.id FROM webhook_endpoints e JOIN webhook_deliveries d ON d.endpoint_id = e.id
          WHERE e.team_id = ${NOBODY}::uuid LIMIT ${limit})`;
      if (count < limit) {
        await client.webhookEndpoint.deleteMany({ where: { teamId: NOBODY } });
      }
      return count;
    });
  }

  #giveUpHopeless(limit: number): Promise<number> {
    return this.#database.query(
      (client) => client.$executeRaw`
        UPDATE webhook_deliveries SET state = 'dead', error = 'The endpoint was switched off.', completed_at = now()
        WHERE id IN (
          SELECT d.id FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
          WHERE d.state = 'waiting' AND NOT e.enabled LIMIT ${limit})`,
    );
  }
}

function deadBetween(since: Date, until: Date | undefined): Prisma.Sql {
  const end = until === undefined ? Prisma.sql`true` : Prisma.sql`created_at < ${until}`;
  return Prisma.sql`state = 'dead' AND created_at >= ${since} AND ${end}`;
}
