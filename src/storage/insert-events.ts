import type { InboxEvent } from "../core/ports/thread-adapter.ts";
import { Batcher } from "./batcher.ts";
import type { Statement, Statements } from "./database.ts";
import { JOB_COLUMNS, type JobInsert } from "./store-deps.ts";

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
export class EventInserts {
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
    const keys = new Set(events.map(({ orderingKey }) => orderingKey));
    const jobs = rowsOf(Array.from(keys, (key) => ({ kind: "inbox", key })));
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
