import type { LeaseToken, PrincipalId } from "../../basics/ids.ts";
import type { AuditContext } from "../../model/people/audit.ts";
import type { RunEventBody } from "../../model/runs/events.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { ChangedDetails, RunProgress } from "../../model/runs/run.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { ThreadBinding } from "../../model/threads/thread.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { Artifact } from "../../model/workspaces/artifact.ts";
import type { InputFile } from "../../model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../../model/workspaces/repository-changes.ts";
import type { Job } from "../queue.ts";
import type { IdempotentResponse } from "./idempotency-store.ts";
import type { InboxResult } from "./inbox-store.ts";

/** Everything that one decision about a run stores, in one transaction. Only `RunEdit` creates it. */
export interface RunChange extends ChangeExtras {
  readonly progress: RunProgress;
  /** The details that change. */
  readonly details?: ChangedDetails | undefined;
  /** Undefined keeps the lease, null gives it up. */
  readonly lease: LeaseGrant | null | undefined;
  readonly events: readonly { readonly turn: number; readonly body: RunEventBody }[];
  /** The storage assigns sequence numbers after the run's earlier follow-ups. */
  readonly followUps: readonly Omit<FollowUp, "seq">[];
  /** Waiting follow-ups that were rewritten or withdrawn, as they are now. */
  readonly changedFollowUps?: readonly FollowUp[];
  /** The waiting follow-ups that this turn takes. */
  readonly takenFollowUps: { readonly turn: number; readonly ids: readonly string[] } | undefined;
  /** Artifacts that the run made: new ones, and new versions that replace the row of the same id. */
  readonly artifacts?: readonly Artifact[];
  /** All that the run has changed in its repositories. They replace the earlier rows. */
  readonly changes?: readonly RepositoryChanges[] | undefined;
  readonly notices: readonly { readonly threadId: string; readonly notice: Notice }[];
  readonly jobs: readonly Job[];
  /** The run waits for a worker from now on. Workers are told. */
  readonly isClaimable?: boolean;
  readonly binding: ThreadBinding | undefined;
  /** The ids of threads that show the card from now on. */
  readonly cardsFromNow?: readonly string[];
}

/** What the transaction of a change also stores, and what it depends on. */
export interface ChangeExtras {
  /** The files of a new run in their order. Their bytes are already stored. */
  readonly inputs?: readonly InputFile[];
  /** Messages about a new run are also sent to this address of its own. */
  readonly webhook?: WebhookEndpoint | undefined;
  /** Drafts of comments that become comments of a follow-up. They are deleted. */
  readonly sentDrafts?: { readonly authorId: PrincipalId; readonly ids: readonly string[] } | undefined;
  readonly inboxResult?: InboxResult | undefined;
  readonly idempotentResponse?: IdempotentResponse | undefined;
  /** The API key that requests the change. If it was revoked, nothing is stored. */
  readonly apiKeyId?: string | undefined;
  /** The sign-in to the pages that requests the change. If it has ended, nothing is stored. */
  readonly signInId?: string | undefined;
  /** The share link for editing that requests the change. If its guests may no longer write, nothing is stored. */
  readonly shareLinkId?: string | undefined;
  /** Nothing is stored if the lease of the run has been renewed since the decision. */
  readonly ifLeaseIsOver?: boolean | undefined;
  /** Named in the audit entries of the change, if it is one that has entries. */
  readonly author?: AuditContext | undefined;
}

export interface LeaseGrant {
  readonly token: LeaseToken;
  readonly worker: string;
  readonly ttlMs: number;
  /**
   * The quota `running_runs` of the team. If the team has as many runs at work already, nothing is stored: `TeamAtQuota` is
   * thrown. Undefined: the team has none.
   */
  readonly runningMax?: number | undefined;
}
