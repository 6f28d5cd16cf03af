import type { Clock } from "../core/ports/clock.ts";
import type { News } from "../core/ports/news.ts";
import type { Job } from "../core/ports/queue.ts";
import type { Statements, Tx } from "./database.ts";

/** Stores jobs through the transaction that makes their work. */
export type JobSender = (tx: Pick<Tx, "$queryRawUnsafe">, jobs: readonly Job[]) => Promise<void>;

/** News that a key or its principal has changed: whoever keeps keys in mind forgets them. */
export const KEYS_TOPIC = "keys";

export interface StoreParts {
  readonly database: Statements;
  readonly news: News;
  readonly clock: Clock;
  readonly sendJobs: JobSender;
}
