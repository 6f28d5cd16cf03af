import { CHANNELS } from "../core/ports/pubsub.ts";
import type { AskedEvent, InboxResult } from "../core/ports/stores/inbox-store.ts";
import {
  EARLY_REPLY_MS,
  type InboxStore,
  type MessageResult,
  type ThreadNotices,
} from "../core/ports/stores/inbox-store.ts";
import type { InboxEvent } from "../core/ports/thread-adapter.ts";
import { Batcher } from "./batcher.ts";
import { addNotices, endAsked, makeThread, storeInboxResult } from "./change-rows.ts";
import type { Statement, Statements, Tx } from "./database.ts";
import { IDLE_SECONDS, insertJobs } from "./insert-jobs.ts";
import { withoutNulls } from "./rows.ts";
import { JOB_COLUMNS, type JobInsert, type StoreDeps } from "./store-deps.ts";

const PRUNED_MAX = 1_000;
/** As `messageKeyOf` begins for the question about an event. */
const CHOICE_KEY = "choice:";

export class PrismaInboxStore implements InboxStore {
  readonly #deps: StoreDeps;
  readonly #inserts: EventInserts;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#inserts = new EventInserts(deps.database, deps.jobInsert);
  }

  async put(event: InboxEvent): Promise<boolean> {
    const isNew = await this.#inserts.put(event);
    if (isNew) {
      this.#deps.pubsub.publish([CHANNELS.jobs("inbox")]);
    }
    return isNew;
  }

  async next(orderingKey: string): Promise<InboxEvent | undefined> {
    const query = { where: { orderingKey, disposition: null }, orderBy: { seq: "asc" } } as const;
    const row = await this.#deps.database.query((client) => client.inboxEvent.findFirst(query));
    return row === null ? undefined : eventOf(row);
  }

  async isRepeated(id: string): Promise<boolean> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<unknown[]>`
        SELECT FROM inbox_events AS event
        JOIN inbox_events AS later USING (adapter, ordering_key, name, body)
        WHERE event.id = ${id}::uuid AND later.disposition IS NULL AND later.seq > event.seq LIMIT 1`,
    );
    return rows.length === 1;
  }

  async isTaken(dedupeKey: string): Promise<boolean> {
    const query = { where: { dedupeKey } };
    return (await this.#deps.database.query((client) => client.inboxDedupeKey.count(query))) > 0;
  }

  async findAsked(id: string): Promise<AskedEvent | undefined> {
    const query = { where: { id, disposition: "asked" } };
    const row = await this.#deps.database.query((client) => client.inboxEvent.findFirst(query));
    return row === null ? undefined : askedOf(row);
  }

  async listWaitingWith(waitsWith: string): Promise<readonly AskedEvent[]> {
    const query = { where: { disposition: "asked", waitsWith }, orderBy: { seq: "asc" } } as const;
    return (await this.#deps.database.query((client) => client.inboxEvent.findMany(query))).map(askedOf);
  }

  async listAsked(ageMs: number, limit: number): Promise<readonly AskedEvent[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<AskedRow[]>`
        SELECT id, adapter, ordering_key AS "orderingKey", delivery_id AS "deliveryId", name, body,
          received_at AS "receivedAt", waits_with AS "waitsWith" FROM inbox_events
        WHERE disposition = 'asked' AND received_at < now() - ${ageMs}::float8 * interval '1 millisecond'
        ORDER BY received_at LIMIT ${limit}`,
    );
    return rows.map(askedOf);
  }

  async listAskedIn(threadId: string): Promise<readonly AskedEvent[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<AskedRow[]>`
        SELECT id, adapter, ordering_key AS "orderingKey", delivery_id AS "deliveryId", name, body,
          received_at AS "receivedAt", waits_with AS "waitsWith" FROM inbox_events
        WHERE disposition = 'asked' AND ${CHOICE_KEY}::text || coalesce(waits_with, id)::text IN
          (SELECT message_key FROM outbox_deliveries WHERE thread_id = ${threadId}::uuid)
        ORDER BY seq`,
    );
    return rows.map(askedOf);
  }

  async giveUpAsked(id: string, reason: string, threadNotices?: ThreadNotices): Promise<boolean> {
    const isEnded = await this.#deps.database.transaction(async (tx) => {
      const isOurs = await endAsked(tx, id, { reason });
      if (isOurs && threadNotices !== undefined) {
        await this.#insertNotices(tx, threadNotices);
      }
      return isOurs;
    });
    if (isEnded && threadNotices !== undefined) {
      this.#deps.pubsub.publish([CHANNELS.jobs("deliver")]);
    }
    return isEnded;
  }

  async listResultsOf(messageId: string): Promise<readonly MessageResult[]> {
    const query = { where: { messageId, disposition: { not: null } }, orderBy: { seq: "asc" } } as const;
    const rows = await this.#deps.database.query((client) => client.inboxEvent.findMany(query));
    return rows.flatMap(({ disposition, id: inboxId, messageVersion: version, runId }) =>
      disposition === null
        ? []
        : [withoutNulls<MessageResult>({ inboxId, disposition, version: version ?? "", runId })],
    );
  }

  async complete(result: InboxResult, threadNotices?: ThreadNotices): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      await storeInboxResult(tx, result);
      if (threadNotices === undefined || !(await isNewNotice(tx, result, threadNotices))) {
        return;
      }
      await this.#insertNotices(tx, threadNotices);
    });
    if (threadNotices !== undefined) {
      this.#deps.pubsub.publish([CHANNELS.jobs("deliver")]);
    }
  }

  async retry(id: string): Promise<boolean> {
    const isRetried = await this.#deps.database.transaction(async (tx) => {
      const [event] = await tx.inboxEvent.updateManyAndReturn({
        where: { id, disposition: "failed", body: { not: "" } },
        data: { disposition: null, reason: null, completedAt: null, bodyKeptSince: null, failures: 0 },
      });
      if (event !== undefined) {
        await insertJobs(tx, this.#deps.jobInsert, [{ kind: "inbox", key: event.orderingKey }]);
      }
      return event !== undefined;
    });
    if (isRetried) {
      this.#deps.pubsub.publish([CHANNELS.jobs("inbox")]);
    }
    return isRetried;
  }

  async countFailure(id: string, error: string): Promise<number> {
    const row = await this.#deps.database.query((client) =>
      client.inboxEvent.update({ where: { id }, data: { failures: { increment: 1 }, reason: error } }),
    );
    return row.failures;
  }

  async noteFailure(id: string, error: string): Promise<void> {
    const change = { where: { id }, data: { reason: error } };
    await this.#deps.database.query((client) => client.inboxEvent.update(change));
  }

  async pruneBodies(keptMs: number): Promise<number> {
    return this.#deps.database.query(
      (client) => client.$executeRaw`
        UPDATE inbox_events SET body = '', body_kept_since = NULL WHERE id IN (
          SELECT id FROM inbox_events
          WHERE body_kept_since < now() - ${EARLY_REPLY_MS}::float8 * interval '1 millisecond' AND disposition <> 'asked'
            AND (disposition = 'ignored' OR body_kept_since < now() - ${keptMs}::float8 * interval '1 millisecond')
          LIMIT ${PRUNED_MAX})`,
    );
  }

  async listOpenOrderingKeys(limit: number): Promise<readonly string[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<{ orderingKey: string }[]>`
        SELECT DISTINCT ordering_key AS "orderingKey" FROM inbox_events
        WHERE disposition IS NULL AND received_at < now() - ${IDLE_SECONDS}::int * interval '1 second'
        LIMIT ${limit}`,
    );
    return rows.map(({ orderingKey }) => orderingKey);
  }

  async #insertNotices(tx: Tx, { thread, notices }: ThreadNotices): Promise<void> {
    await makeThread(tx, thread);
    await addNotices(
      tx,
      notices.map((notice) => ({ threadId: thread.id, notice })),
    );
    await insertJobs(tx, this.#deps.jobInsert, [{ kind: "deliver", key: thread.id }]);
  }
}

function eventOf({ id, adapter, orderingKey, deliveryId, name, body, receivedAt }: InboxEvent): InboxEvent {
  return { id, adapter, orderingKey, deliveryId, name, body, receivedAt };
}

type AskedRow = InboxEvent & { readonly waitsWith: string | null };

function askedOf(row: AskedRow): AskedEvent {
  const event = eventOf(row);
  return row.waitsWith === null ? event : { ...event, waitsWith: row.waitsWith };
}

async function isNewNotice(tx: Tx, { inboxId }: InboxResult, { once }: ThreadNotices): Promise<boolean> {
  if (once === undefined) {
    return true;
  }
  const data = [{ dedupeKey: once, inboxId }];
  return (await tx.inboxDedupeKey.createMany({ data, skipDuplicates: true })).count === 1;
}

/** With more rows, one delivery would wait too long for others. */
const INSERTED_TOGETHER_MAX = 32;
/** A longer body is sent alone, so that no statement holds many of them. */
const SHARED_LENGTH_MAX = 64 * 1024;

const COLUMNS = ["id", "adapter", "ordering_key", "delivery_id", "name", "body"] as const;
const TYPES = ["uuid", "text", "text", "text", "text", "text"] as const;

type Answers = readonly boolean[];

/**
 * Stores received events with their jobs, several at once if they arrive together. One statement is one round trip and
 * one transaction. The answer is false for a delivery that was stored before. Events of one ordering key share a job.
 */
class EventInserts {
  readonly #statements: Pick<Statements, "rows">;
  readonly #jobInsert: JobInsert;
  readonly #together: Batcher<InboxEvent, boolean>;

  constructor(statements: Pick<Statements, "rows">, jobInsert: JobInsert) {
    this.#statements = statements;
    this.#jobInsert = jobInsert;
    const perform = (events: readonly InboxEvent[]) => this.#insert(events);
    this.#together = new Batcher({ itemsMax: INSERTED_TOGETHER_MAX, perform });
  }

  async put(event: InboxEvent): Promise<boolean> {
    if (event.body.length <= SHARED_LENGTH_MAX) {
      return this.#together.do(event);
    }
    return (await this.#insert([event]))[0] ?? false;
  }

  async #insert(events: readonly InboxEvent[]): Promise<Answers> {
    const stored = await this.#statements.rows<{ id: string }>(this.#statementOf(events));
    const ids = new Set(stored.map(({ id }) => id));
    return events.map(({ id }) => ids.has(id));
  }

  #statementOf(events: readonly InboxEvent[]): Statement {
    const { rowsOf, sql } = this.#jobInsert;
    const keys = new Map<string, number>();
    for (const { collectMs = 0, orderingKey: key } of events) {
      keys.set(key, Math.min(collectMs, keys.get(key) ?? collectMs));
    }
    const jobs = rowsOf(Array.from(keys, ([key, afterMs]) => ({ kind: "inbox", key, afterMs })));
    const rows = events.map((_, index) => placeholders(1 + index * COLUMNS.length)).join(", ");
    const text = `
      WITH stored AS (
        INSERT INTO inbox_events (${COLUMNS.join(", ")}) VALUES ${rows} ON CONFLICT DO NOTHING RETURNING id, ordering_key),
      new_jobs AS (
        SELECT job.* FROM json_to_recordset($1::json) AS job (${JOB_COLUMNS})
        WHERE key IN (SELECT ordering_key FROM stored)),
      stored_jobs AS (${sql})
      SELECT id FROM stored`;
    return { text, values: [JSON.stringify(jobs), ...events.flatMap(valuesOf)] };
  }
}

function placeholders(before: number): string {
  return `(${TYPES.map((type, index) => `$${before + index + 1}::${type}`).join(", ")})`;
}

function valuesOf({ id, adapter, orderingKey, deliveryId, name, body }: InboxEvent): readonly string[] {
  return [id, adapter, orderingKey, deliveryId, name, body];
}
