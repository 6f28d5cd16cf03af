import type { Clock } from "../core/ports/clock.ts";
import type { PubSub } from "../core/ports/pubsub.ts";
import type { Job } from "../core/ports/queue.ts";
import type { Statements } from "./database.ts";

/** A Prisma transaction, or somebody who takes down what would be done in one. */
export interface JobTransaction {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>;
}

/** Stores jobs through the transaction that makes their work. Each statement has one value: a list of jobs as JSON. */
export type JobSender = (tx: JobTransaction, jobs: readonly Job[]) => Promise<void>;

export interface StoreDeps {
  readonly database: Statements;
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly sendJobs: JobSender;
}
