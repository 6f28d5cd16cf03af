import type { NewWebhookDelivery, WebhookEndpoint } from "../../core/model/webhooks/webhook.ts";
import { CHANNELS, type PubSub } from "../../core/ports/pubsub.ts";
import type { CompletedTry, TakenWebhook, WebhookOutbox } from "../../core/ports/stores/webhook-stores.ts";
import type { Statements, Tx } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { deliveryColumns, endpointOf, NOBODY, newDeliveryOf } from "./webhook-rows.ts";

/** How long a taken delivery is reserved: longer than a post may last. */
const TAKEN_SECONDS = 60;

/** Much less than one statement can do in its time limit. */
const GIVEN_UP_AT_ONCE = 1_000;

const NOW = Prisma.sql`clock_timestamp()`;

export class PrismaWebhookOutbox implements WebhookOutbox {
  readonly #database: Statements;
  readonly #pubsub: PubSub;

  constructor(database: Statements, pubsub: PubSub) {
    this.#database = database;
    this.#pubsub = pubsub;
  }

  async add(deliveries: readonly NewWebhookDelivery[]): Promise<void> {
    if (deliveries.length === 0) {
      return;
    }
    const data = deliveries.map(deliveryColumns);
    await this.#database.query((client) => client.webhookDelivery.createMany({ data, skipDuplicates: true }));
    this.#pubsub.publish([CHANNELS.webhooks]);
  }

  /**
   * One statement, so that each of many senders gets another delivery without waiting. A taken delivery stays waiting
   * with a later due time, and blocks the following ones until it is completed.
   */
  async take(busy: readonly string[]): Promise<TakenWebhook | undefined> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        UPDATE webhook_deliveries SET tries = tries + 1, retry_step = retry_step + 1,
          due_at = ${NOW} + ${TAKEN_SECONDS}::int * interval '1 second'
        WHERE id = (
          SELECT d.id FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
          WHERE d.state = 'waiting' AND d.due_at <= ${NOW} AND e.enabled AND d.endpoint_id <> ALL (${busy}::uuid[])
            AND NOT EXISTS (
              SELECT FROM webhook_deliveries earlier
              WHERE earlier.endpoint_id = d.endpoint_id AND earlier.run_id = d.run_id AND earlier.seq < d.seq
                AND earlier.state = 'waiting')
          ORDER BY d.due_at, d.id LIMIT 1
          FOR NO KEY UPDATE OF d SKIP LOCKED)
        RETURNING id::text`,
    );
    return rows[0] && this.#taken(rows[0].id);
  }

  async hasWaiting(): Promise<boolean> {
    const [row] = await this.#database.query(
      (client) => client.$queryRaw<{ hasWaiting: boolean }[]>`
        SELECT EXISTS (SELECT FROM webhook_deliveries WHERE state = 'waiting') AS "hasWaiting"`,
    );
    return row?.hasWaiting ?? false;
  }

  async lock(endpointId: string): Promise<WebhookEndpoint | undefined> {
    return this.#database.transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM webhook_endpoints WHERE id = ${endpointId}::uuid FOR NO KEY UPDATE`;
      const where = { id: endpointId, teamId: { not: NOBODY } };
      const row = await tx.webhookEndpoint.findFirst({ where });
      return row === null ? undefined : endpointOf(row);
    });
  }

  async complete(
    { id, number }: TakenWebhook,
    { retryAfterMs, state, tried }: CompletedTry,
  ): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const { error = null } = tried;
      const completedAt = state === "waiting" ? null : new Date();
      const where = { id, state: "waiting", tries: number };
      const { count } = await tx.webhookDelivery.updateMany({ where, data: { state, error, completedAt } });
      if (count === 0) {
        return false;
      }
      await tx.webhookTry.create({ data: { ...tried, deliveryId: id, number } });
      if (state === "waiting") {
        await postpone(tx, id, retryAfterMs ?? 0);
      } else {
        await hasten(tx, id);
      }
      return true;
    });
  }

  async giveUp(endpointId: string, error: string): Promise<void> {
    await this.#database.query(
      (client) => client.$executeRaw`
        UPDATE webhook_deliveries SET state = 'dead', error = ${error}, completed_at = now() WHERE id IN (
          SELECT id FROM webhook_deliveries
          WHERE endpoint_id = ${endpointId}::uuid AND state = 'waiting' ORDER BY id LIMIT ${GIVEN_UP_AT_ONCE})`,
    );
  }

  async #taken(id: string): Promise<TakenWebhook | undefined> {
    const include = { endpoint: true };
    const row = await this.#database.query((client) =>
      client.webhookDelivery.findUnique({ where: { id }, include }),
    );
    if (row === null) {
      return undefined;
    }
    return {
      ...newDeliveryOf(row),
      endpoint: endpointOf(row.endpoint),
      number: row.tries,
      step: row.retryStep,
    };
  }
}

/** Postpones a delivery and those that must wait for it. If those stayed due, each search would find them in vain. */
async function postpone(tx: Tx, id: string, ms: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_deliveries later SET due_at = ${NOW} + ${Math.ceil(ms)}::int * interval '1 millisecond'
    FROM webhook_deliveries tried
    WHERE tried.id = ${id}::uuid AND (later.id = tried.id
      OR later.endpoint_id = tried.endpoint_id AND later.run_id = tried.run_id AND later.seq > tried.seq
        AND later.state = 'waiting' AND later.retry_step = 0)`;
}

/** The deliveries that were postponed with it can be sent. */
async function hasten(tx: Tx, id: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_deliveries later SET due_at = ${NOW} FROM webhook_deliveries completed
    WHERE completed.id = ${id}::uuid AND later.endpoint_id = completed.endpoint_id AND later.run_id = completed.run_id
      AND later.seq > completed.seq AND later.state = 'waiting' AND later.retry_step = 0 AND later.due_at > ${NOW}`;
}
