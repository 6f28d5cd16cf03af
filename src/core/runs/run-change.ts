import type { Artifact } from "../artifacts/artifact.ts";
import type { IdempotentResponse } from "../idempotency/idempotent-response.ts";
import type { LeaseToken } from "../ids.ts";
import type { InboxResult } from "../inbox/settlement.ts";
import type { RunInput } from "../inputs/run-input.ts";
import type { Job } from "../ports/queue.ts";
import type { Notice } from "../threads/notice.ts";
import type { ThreadBinding } from "../threads/thread.ts";
import type { RunEventBody } from "./events.ts";
import type { FollowUp, RunProgress } from "./run.ts";

/** All that one decision about a run stores, in one transaction. Made by `RunEdit` alone. */
export interface RunChange {
  readonly progress: RunProgress;
  /** undefined keeps the lease as it is, null gives it up. */
  readonly lease: LeaseGrant | null | undefined;
  readonly events: readonly { readonly turn: number; readonly body: RunEventBody }[];
  /** The storage numbers them behind the run's earlier ones. */
  readonly followUps: readonly Omit<FollowUp, "seq">[];
  /** Waiting follow-ups that this turn takes. */
  readonly takes: { readonly turn: number; readonly ids: readonly string[] } | undefined;
  readonly notices: readonly { readonly threadId: string; readonly notice: Notice }[];
  readonly jobs: readonly Job[];
  readonly binding: ThreadBinding | undefined;
  readonly result: InboxResult | undefined;
  readonly answer: IdempotentResponse | undefined;
  /** What was given to a new run, in its order; the bytes are stored already. */
  readonly inputs?: readonly RunInput[];
  /** What the run made: new, or in the place of the one of the same id. */
  readonly artifacts?: readonly Artifact[];
}

export interface LeaseGrant {
  readonly token: LeaseToken;
  readonly worker: string;
  readonly ttlMs: number;
}
