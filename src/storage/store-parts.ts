import type { Clock } from "../core/ports/clock.ts";
import type { News } from "../core/ports/news.ts";
import type { Job } from "../core/ports/queue.ts";
import type { Database, Tx } from "./database.ts";

/** Stores jobs through the transaction that makes their work. */
export type JobSender = (tx: Pick<Tx, "$queryRawUnsafe">, jobs: readonly Job[]) => Promise<void>;

export interface StoreParts {
  readonly database: Database;
  readonly news: News;
  readonly clock: Clock;
  readonly sendJobs: JobSender;
}
