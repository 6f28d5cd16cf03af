import type { Clock } from "../core/basics/clock.ts";
import type { PubSub } from "../core/ports/pubsub.ts";
import type { Job } from "../core/ports/queue.ts";
import type { Statements } from "./database.ts";

/** A job as a row of the common table expression `new_jobs`. */
export interface JobRow {
  readonly queue: string;
  readonly key: string;
  readonly delay_seconds?: number;
}

/** The members of a `JobRow`, as PostgreSQL reads them out of JSON. */
export const JOB_COLUMNS = "queue text, key text, delay_seconds int";

/** How the queue stores jobs in the statement or the transaction that stores their work. */
export interface JobInsert {
  rowsOf(jobs: readonly Job[]): readonly JobRow[];
  /** A statement that stores all rows of the common table expression `new_jobs`. It has no parameters of its own. */
  readonly sql: string;
}

export interface StoreDeps {
  readonly database: Statements;
  /** For reports, which may take longer than other statements. Absent: `database`. */
  readonly reportDatabase?: Statements;
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly jobInsert: JobInsert;
}
